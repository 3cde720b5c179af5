// docs/grammar.md as it was when the program was built (cmake/grammar_page.cpp.in).
#pragma once

#include <string_view>

namespace solstice::lang {

std::string_view grammar_page();

}  // namespace solstice::lang
