// Values that no program can hold, and modules without any: unsupported_operator.
#pragma once

#include <string>

#include "base/result.h"

namespace solstice::importer {

inline constexpr const char* kVaries = "its shape depends on the values of a tensor";

// What an operator without equations yields: complex numbers, or no tensor at all.
Error no_real_tensor(const std::string& op, bool is_complex);
Error no_known_shape(const std::string& op, const std::string& way_out);
Error no_elements(const std::string& what);  // "x", "result 1"
Error complex_numbers(const std::string& what);
Error computes_nothing();

}  // namespace solstice::importer
