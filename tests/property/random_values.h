// Random programs that have values: most keep every rule of the language, nothing divides by 0 or leaves a function's
// domain.
#pragma once

#include <cstdint>
#include <string>

namespace solstice::ir::testing {

std::string random_program(uint64_t seed);

}  // namespace solstice::ir::testing
