// What findings of diagnosis tools were worth, from facts of searches that are over.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "record/fact.h"

namespace solstice::search {

// By how much of its bound a tool's advice is believed: (hits + 1) / (acted on + 1), of the facts whose move it was. 1
// of a tool that nobody acted on; one whose advice never was a gain falls behind. A hit is a gain of more than noise.
using ToolWeights = std::map<std::string, double>;
ToolWeights tool_weights(const std::vector<Fact>& facts);

}  // namespace solstice::search
