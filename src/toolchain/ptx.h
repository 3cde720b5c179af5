// Memory in a unit's PTX that keeps its values between launches.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace solstice::toolchain {

// Variables in global memory that functions name, each once, in the order of use: those of inline assembly too, not
// those that headers define and nothing uses. And "(address of a constant)" where a generic address is made of one:
// stores could follow.
std::vector<std::string> lasting_variables(std::string_view ptx);

}  // namespace solstice::toolchain
