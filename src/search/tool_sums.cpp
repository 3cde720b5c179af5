#include "search/tool_sums.h"

#include <algorithm>
#include <cmath>

#include "search/tree.h"

namespace solstice::search {
namespace {

bool is_hit(const Fact& fact) {
  return fact.state == TrialState::kVerified && 1 - std::exp2(-fact.gain) > std::max(kNoise, 2 * fact.noise);
}

}  // namespace

ToolWeights tool_weights(const std::vector<Fact>& facts) {
  struct Count {
    double hits = 0, acted = 0;
  };
  std::map<std::string, Count> counts;
  for (const Fact& fact : facts) {
    for (const Advised& advised : fact.advised) {
      Count& count = counts[advised.tool];
      count.acted += 1;
      count.hits += is_hit(fact) ? 1 : 0;
    }
  }
  ToolWeights out;
  for (const auto& [tool, count] : counts) out[tool] = (count.hits + 1) / (count.acted + 1);
  return out;
}

}  // namespace solstice::search
