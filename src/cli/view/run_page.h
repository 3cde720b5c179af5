// A run as one self-contained page: web/run_page filled with what run_view.h tells. It loads nothing and asks nobody:
// its policy (CSP) allows its own style and its own script by hash, nothing else, so that text of a run that looks like
// a page stays text.
#pragma once

#include <string>

#include "cli/view/run_view.h"

namespace solstice::cli {

std::string page_of(const RunView& view);

namespace assets {  // web/run_page as it was when the program was built (cmake/run_page.cpp.in)
std::string_view page();
std::string_view style();
std::string_view script();
}  // namespace assets

}  // namespace solstice::cli
