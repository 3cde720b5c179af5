// The program's version, from CMakeLists.txt.
#pragma once

#include <string_view>

namespace solstice {

std::string_view version();  // "0.1.0"

}  // namespace solstice
