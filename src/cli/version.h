// The program's version, from CMakeLists.txt.
#pragma once

#include <string_view>

namespace solstice::cli {

inline constexpr std::string_view kVersion = SOLSTICE_VERSION;

}  // namespace solstice::cli
