// A profile as one self-contained page (cli/view/page.h): web/profile_page filled with facts, diagnosis and the
// ceilings of the machine.
#pragma once

#include <string>

#include "flow/run/profile.h"

namespace solstice::cli {

// Error not_found where no machine of the facts is described here.
Result<std::string> page_of(const flow::Profile& profile);

}  // namespace solstice::cli
