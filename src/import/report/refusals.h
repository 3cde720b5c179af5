// Values that no program can hold, and modules without any: unsupported_operator.
#pragma once

#include <string>

#include "base/result.h"

namespace solstice::importer {

Error no_real_tensor(const std::string& op);  // what the operator yields
Error no_elements(const std::string& what);   // "x", "result 1"
Error complex_numbers(const std::string& what);
Error computes_nothing();

}  // namespace solstice::importer
