// Diagnostics that say the same of several places.
#pragma once

#include <string>

namespace solstice::agents {

// "FILE:LINE:COLUMN: message" and the lines that belong to it, each message once: of its repeats the number is told.
std::string without_repeats(const std::string& diagnostics);

}  // namespace solstice::agents
