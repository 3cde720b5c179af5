// A run as one self-contained page (cli/view/page.h): web/run_page filled with what run_view.h tells.
#pragma once

#include <string>

#include "cli/view/run_view.h"

namespace solstice::cli {

std::string page_of(const RunView& view);

}  // namespace solstice::cli
