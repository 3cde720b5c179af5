// Python text of a value, with the indices that it runs over.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "ir/program.h"

namespace solstice::pytorch {

// How tightly the text's outermost operator binds, as Python has it.
enum Level { kTernary, kNot, kCompare, kBitOr, kBitAnd, kSum, kProduct, kUnary, kPower, kAtom };

struct Value {
  std::string text;
  std::vector<int> axes;  // indices of the equation, one a dimension, in the order of their places
  ir::ValueKind kind = ir::ValueKind::kReal;
  DType dtype = DType::kF32;  // of a tensor: bool, i64, f32, f64, or a narrow float as it is stored
  bool host = false;          // a number of Python's, not a tensor
  bool view = false;          // of another tensor's storage
  int level = kAtom;

  std::string at(int least) const { return level < least ? "(" + text + ")" : text; }
};

std::string torch_name(DType dtype);  // "torch.float32"

// Text of a number of Python's.
std::string real_text(double value);

// "[:, None]": the tensor's dimensions `axes` among those of `all`, without what broadcasting adds by itself.
std::string aligned(const Value& value, const std::vector<int>& all);

bool contains(const std::vector<int>& list, int id);

std::string tuple_text(const std::vector<int64_t>& values);  // "(8,)"
// "[:, 3]", without the whole dimensions at the end; "" where all are whole.
std::string subscript(std::vector<std::string> parts);
// ".permute(1, 0)": what brings the dimensions `axes` into the order `wanted`; "" where they are in it.
std::string permuted(const std::vector<int>& axes, const std::vector<int>& wanted);

// A caller or the module has its value.
bool is_given(const ir::Tensor& t);

}  // namespace solstice::pytorch
