#include "search/counts.h"

#include <algorithm>

namespace solstice::search {

TrialCounts counts_of(const Tree& tree) {
  TrialCounts out;
  for (const Node& node : tree.nodes()) {
    if (node.id == 0) continue;
    ++(node.measurement ? out.done : out.without_result);
  }
  out.skipped = static_cast<int>(std::count_if(tree.events().begin(), tree.events().end(),
                                               [](const Event& e) { return e.kind == Event::Kind::kSkipped; }));
  return out;
}

}  // namespace solstice::search
