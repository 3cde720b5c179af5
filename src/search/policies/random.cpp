// Any node that is open, each as likely: what every other policy has to beat.
#include "search/policy.h"

namespace solstice::search {
namespace {

std::optional<Decision> random_decision(const Tree& tree, const Values&, Random& random) {
  const std::vector<int> open = open_nodes(tree);
  if (open.empty()) return std::nullopt;
  return Decision{open[random.below(open.size())]};
}

}  // namespace

extern const PolicySpec solstice_policies_random;
const PolicySpec solstice_policies_random = {
    .name = "random",
    .about = "any node that something can be derived from, each as likely",
    .source = "the baseline",
    .parameters = {},
    .decide = random_decision,
};

}  // namespace solstice::search
