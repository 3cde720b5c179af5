#include "base/dtype.h"

#include <array>
#include <cmath>

namespace solstice {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  int bytes;
  int precision;  // significand bits with the hidden one; 0: not a float
  bool integer;
};

constexpr std::array kRows = {
    Row{DType::kF64, "f64", 8, 53, false},  Row{DType::kF32, "f32", 4, 24, false},
    Row{DType::kF16, "f16", 2, 11, false},  Row{DType::kBF16, "bf16", 2, 8, false},
    Row{DType::kE4M3, "e4m3", 1, 4, false}, Row{DType::kE5M2, "e5m2", 1, 3, false},
    Row{DType::kI64, "i64", 8, 0, true},    Row{DType::kI32, "i32", 4, 0, true},
    Row{DType::kI16, "i16", 2, 0, true},    Row{DType::kI8, "i8", 1, 0, true},
    Row{DType::kU8, "u8", 1, 0, true},      Row{DType::kBool, "bool", 1, 0, false},
};

const Row& row_of(DType dtype) { return kRows[static_cast<size_t>(dtype)]; }

}  // namespace

std::string_view name_of(DType dtype) { return row_of(dtype).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

const std::vector<DType>& all_dtypes() {
  static const std::vector<DType> all = [] {
    std::vector<DType> list;
    for (const Row& row : kRows) list.push_back(row.dtype);
    return list;
  }();
  return all;
}

int size_of(DType dtype) { return row_of(dtype).bytes; }
bool is_float(DType dtype) { return row_of(dtype).precision > 0; }
bool is_integer(DType dtype) { return row_of(dtype).integer; }
double unit_roundoff(DType dtype) { return is_float(dtype) ? std::ldexp(1.0, -row_of(dtype).precision) : 0.0; }

}  // namespace solstice
