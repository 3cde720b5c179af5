// Measure many roughly, few precisely (Jamieson and Talwalkar 2016). A round derives `first` candidates from its
// parents, measured roughly; the fastest 1/`keep` of them are measured again as usual, the fastest 1/`keep` of these
// precisely. What is left are the next round's parents.
#include <algorithm>

#include "search/policy.h"

namespace solstice::search {
namespace {

class Rounds {
 public:
  Rounds(const Tree& tree, const Values& values)
      : tree_(tree),
        first_(static_cast<size_t>(values.find("first")->second)),
        keep_(static_cast<size_t>(values.find("keep")->second)) {}

  std::optional<Decision> decide() const {
    std::vector<int> parents = {0};
    for (size_t from = 1;;) {
      const size_t end = from + first_, all = tree_.nodes().size();
      if (all < end) {
        if (const auto next = derive(parents)) return next;
        if (all == from) return any();
      }
      const std::vector<int> round = trials(from, std::min(end, all));
      if (const auto next = promote(round)) return next->node < 0 ? std::nullopt : std::optional(*next);
      if (all < end) return any();
      parents = survivors(survivors(round));
      if (parents.empty()) parents = {0};
      from = end;
    }
  }

 private:
  std::vector<int> trials(size_t from, size_t end) const {
    std::vector<int> out;
    for (size_t id = from; id < end; ++id) out.push_back(static_cast<int>(id));
    return out;
  }

  // The fastest 1/keep of those that work, at least one.
  std::vector<int> survivors(const std::vector<int>& of) const {
    std::vector<int> best = ranked(tree_, of);
    if (!best.empty()) best.resize(std::max<size_t>(1, best.size() / keep_));
    return best;
  }

  // The parent with the fewest children first.
  std::optional<Decision> derive(const std::vector<int>& parents) const {
    const Node* best = nullptr;
    for (const int id : parents) {
      const Node& node = tree_.node(id);
      if (node.open() && (!best || node.children.size() < best->children.size())) best = &node;
    }
    if (!best) return std::nullopt;
    return Decision{best->id, false, Precision::kRough};
  }

  // The node to measure again; a node of -1 where results have to come in first; nothing where the round is over.
  std::optional<Decision> promote(const std::vector<int>& round) const {
    std::vector<int> of = round;
    for (const Precision precision : {Precision::kUsual, Precision::kPrecise}) {
      if (waits(of)) return Decision{-1};
      of = survivors(of);
      for (const int id : of) {
        const Node& node = tree_.node(id);
        if (!node.lost && node.precision < precision) return Decision{id, true, precision};
      }
    }
    return std::nullopt;
  }
  bool waits(const std::vector<int>& of) const {
    return std::any_of(of.begin(), of.end(), [&](int id) { return tree_.node(id).in_flight; });
  }

  std::optional<Decision> any() const {
    const std::vector<int> open = open_nodes(tree_);
    if (open.empty()) return std::nullopt;
    const std::vector<int> best = ranked(tree_, open);
    return Decision{best.empty() ? open.front() : best.front(), false, Precision::kRough};
  }

  const Tree& tree_;
  size_t first_, keep_;
};

std::optional<Decision> successive_halving_decision(const Tree& tree, const Values& values, Random&) {
  return Rounds(tree, values).decide();
}

}  // namespace

extern const PolicySpec solstice_policies_successive_halving;
const PolicySpec solstice_policies_successive_halving = {
    .name = "successive-halving",
    .about = "rounds of many rough measurements, of which few are repeated precisely",
    .source = "Jamieson and Talwalkar 2016",
    .parameters = {{"first", 9, 2, 1000, true, "candidates of a round, measured roughly"},
                   {"keep", 3, 2, 100, true, "one of so many is measured again"}},
    .decide = successive_halving_decision,
};

}  // namespace solstice::search
