// A self-contained page of web/, filled with data. It loads nothing and asks nobody: its policy (CSP) allows its own
// style and its own script by hash, nothing else, so that text in its data that looks like a page stays text.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace solstice::cli {

// A page's files as they were when the program was built (cmake/page.cpp.in).
struct PageAssets {
  std::string_view page, style, script;
};

// `title` is text, `data` what the script reads.
std::string filled_page(const PageAssets& assets, const std::string& title, const Json& data);

}  // namespace solstice::cli
