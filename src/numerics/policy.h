// Numerics policies: how far a candidate's result may lie from the exact one, and what `math=` may be under each.
//
// reference (default): in the class of PyTorch's own eager result under its flags. high: TF32-class. medium:
// bf16-class (PyTorch's names for float32_matmul_precision). Both errors, PyTorch's and the candidate's, are measured
// against a float64 oracle; the limit is
//     normwise     max(1.1 x PyTorch's error, the modelled error of PyTorch's own reduction, 2 ulp)
//     elementwise  twice the same, with both elementwise errors taken against the same scale
// where, for high and medium, PyTorch's error is the larger of its own and of what it has with TF32 allowed, and the
// modelled error is that of a TF32 or bf16 product, and a tenth, times the root of the number of products that follow
// each other; their elementwise limit is at least that times sqrt(4 ln 1000 n), the largest of n errors. A result that
// depends on no product keeps the limit of reference.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "numerics/error_model.h"
#include "numerics/math.h"

namespace solstice::numerics {

enum class Policy { kReference, kHigh, kMedium };

std::string_view name_of(Policy policy);
std::optional<Policy> policy_from_name(std::string_view name);

// PyTorch's own products of fp32: strict fp32, or TF32 (cuDNN convolutions by default, products where
// torch.backends.cuda.matmul.allow_tf32 is set).
enum class OwnMath { kStrict, kTF32 };

// A math is legal where its representation error does not exceed the policy's class: fp32's for reference (TF32's where
// PyTorch itself uses TF32), TF32's for high, bf16's for medium. Narrower operands than f32 keep their format. Best
// first by rate on tensor cores. Integers and bool: simt.
const std::vector<Math>& legal_maths(Policy policy, DType operands, OwnMath own = OwnMath::kStrict);
bool is_legal(Math math, Policy policy, DType operands, OwnMath own = OwnMath::kStrict);

struct Errors {
  double normwise = 0;
  double elementwise = 0;
};

struct Limit {
  Errors allowed;
  std::string
      because;  // "1.1 x PyTorch's 1.2e-06", "1.1 x PyTorch's TF32 4.3e-04", "modelled: K 4096, simt", "2 ulp of f32"
};

// The longest sum that `output` (tensor id) depends on: what the modelled error of PyTorch's own result is taken for.
// `sum.result` is the storage of `output`; `sum.products` counts sums of products of different operands:
// the most that follow each other, a recurrence's once.
Sum longest_sum(const ir::Program& program, int output);

// `pytorch`: PyTorch's measured errors, non-finite or negative where unknown. `sum` describes PyTorch's reduction, its
// `data` the input family (value_families.h). `tf32`: PyTorch's errors with TF32 allowed, unknown in the same way.
Limit limit_of(Policy policy, const Errors& pytorch, const Sum& sum, OwnMath own = OwnMath::kStrict,
               const Errors& tf32 = {-1, -1});

// Empty where `measured` keeps the limit, else which error exceeds it, by how much. NaN never passes.
std::string violation(const Limit& limit, const Errors& measured);

}  // namespace solstice::numerics
