// Findings for a terminal.
#pragma once

#include <string>

#include "flow/run/profile.h"

namespace solstice::cli {

std::string finding_text(const Finding& finding, int number);
std::string profile_text(const flow::Profile& profile);
Json profile_json(const flow::Profile& profile);

}  // namespace solstice::cli
