// The program's version, from python/solstice/version.py.
#pragma once

#include <string_view>

namespace solstice {

std::string_view version();  // "0.1.0"

}  // namespace solstice
