// Findings for a terminal.
#pragma once

#include <string>

#include "flow/run/profile.h"

namespace solstice::cli {

std::string text_of(const Finding& finding, int number);
std::string text_of(const flow::Profile& profile);
Json json_of(const flow::Profile& profile);

}  // namespace solstice::cli
