// What nobody could answer, and what would.
#pragma once

#include <string>
#include <vector>

namespace solstice::diagnose {

// Why a tool said nothing: its sources are not there, or say nothing of some launches.
struct OpenQuestion {
  std::string tool, question;
  std::string source;  // that is missing
  std::string why, opens;
  std::vector<std::string> steps = {};  // launches for which it is; none: for all
};

}  // namespace solstice::diagnose
