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

Seconds fastest_measured(const Tree& tree) {
  Seconds out{0};
  for (const Event& event : tree.events()) {
    const std::optional<Measurement>& found = event.measurement;
    if (event.node == 0 || !found || found->state != TrialState::kVerified) continue;
    if (out.value <= 0 || found->time < out) out = found->time;
  }
  return out;
}

}  // namespace solstice::search
