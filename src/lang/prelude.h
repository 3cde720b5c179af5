// The functions every program may use, written in the language: `relu`, `gelu`, `clamp`, ...
#pragma once

#include <string_view>
#include <vector>

#include "lang/tree.h"

namespace solstice::lang {

std::string_view prelude_text();   // a program of `fn`s
const std::vector<Fn>& prelude();  // parsed once; a name may occur with several numbers of parameters

}  // namespace solstice::lang
