// Storage formats of tensors. TF32 is not one: it is a way to multiply (language.md, section 4).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace solstice {

enum class DType { kF64, kF32, kF16, kBF16, kE4M3, kE5M2, kI64, kI32, kI16, kI8, kU8, kBool };

std::string_view name_of(DType dtype);  // "f32"
std::optional<DType> dtype_from_name(std::string_view name);
const std::vector<DType>& all_dtypes();
int size_of(DType dtype);  // bytes an element
bool is_float(DType dtype);
bool is_integer(DType dtype);       // without bool
double unit_roundoff(DType dtype);  // 2^-(p) of a float format; 0 for others

}  // namespace solstice
