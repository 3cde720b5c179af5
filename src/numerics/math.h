// The ways to multiply: what `math=` of a schedule may say. One table, from which legality, error model and rates
// follow.
//
// A split math writes each operand as a sum of planes in a narrow format and multiplies the planes on tensor cores:
// x = hi + lo, x*y ~ hi*hi + hi*lo + lo*hi. Tensor cores truncate when they accumulate, so split maths promote their
// partial sums into fp32 registers every so many k.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace solstice::numerics {

enum class Math { kSimt, kTF32, kTF32x3, kBF16, kBF16x3, kBF16x6, kFP16, kFP16x3, kFP8, kF64 };

struct MathInfo {
  Math math;
  std::string_view name;    // "fp16x3"
  std::string_view format;  // of the multiplied planes: f32, tf32, bf16, f16, f8, f64
  bool tensor = false;      // on tensor cores; else on the SIMT pipe
  int significand = 24;     // bits of the format, the hidden one included
  int planes = 1;           // an operand is split into
  int products = 1;         // multiplications of planes for each multiplication
  int k_step = 1;           // products that one MMA instruction adds up
  bool promoted = false;    // partial sums go to fp32 registers
  bool guarded = false;     // fp32 operands need scales and a range guard: the format's exponent is short
  std::string_view help;
};

const std::vector<MathInfo>& all_maths();
const MathInfo& info(Math math);
std::optional<Math> math_from_name(std::string_view name);
std::string pipe_name(Math math);  // name of its products' pipe in machine files: "tensor.f16"

// Every value of `dtype` is one value of the math's format, so multiplying loses nothing.
bool exact_operands(Math math, DType dtype);

}  // namespace solstice::numerics
