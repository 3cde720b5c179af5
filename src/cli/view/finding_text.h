// Findings for a terminal.
#pragma once

#include <string>

#include "flow/run/profile.h"

namespace solstice::cli {

// With the line of the program, or of given code in it, that its place names: `program` is its text; "": unknown.
std::string finding_text(const Finding& finding, int number, const std::string& program);
std::string profile_text(const flow::Profile& profile);
Json profile_json(const flow::Profile& profile);

}  // namespace solstice::cli
