// Values that no program can hold, with the way out.
#pragma once

#include <string>

#include "base/result.h"

namespace solstice::importer {

Error without_elements(const std::string& what);
Error complex_value(const std::string& what);
// What an operator without equations yields: complex numbers, or no tensor at all.
Error no_real_tensor(const std::string& op, bool is_complex);

}  // namespace solstice::importer
