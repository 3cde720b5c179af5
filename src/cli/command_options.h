// Options of a recorded command line.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace solstice::cli {

// The options that a command line of this program gives, by name, but those that a run's record has itself or that say
// where things go. A flag is "given". Empty where it is no command of this program.
std::map<std::string, std::string> options_of(const std::vector<std::string>& command);

}  // namespace solstice::cli
