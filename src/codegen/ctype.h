// C++ types of generated code. Storage types are those of kernels/math/storage.h; computing types are float (double
// where an operand is f64), int or long long by range, and bool.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/dtype.h"

namespace solstice::codegen {

enum class CType { kBool, kI32, kI64, kF32, kF64 };

std::string_view name_of(CType type);        // "long long"
std::string_view storage_type(DType dtype);  // "solstice::Half"
CType computing_type(DType dtype);           // the result of widen()
bool is_real(CType type);

// Literals that read back as exactly this value; reals are rounded to float for kF32.
std::string literal(double value, CType type);
std::string literal(int64_t value, CType type);

// A legal C++ identifier for a tensor ("layer1.h" -> "layer1_h").
std::string identifier(std::string_view name);

// The `extern "C"` function of a launch ("norm" -> "solstice_norm"): CUDA declares `norm`, `sin`, `round` and many more
// itself, and a profiler's list shows whose kernel it is.
std::string entry_name(std::string_view launch);

}  // namespace solstice::codegen
