// Monte Carlo tree search as KernelPro uses it (arXiv 2606.26453): UCT over rewards on the logarithm of the speedup,
// progressive widening, fewer children for nodes that fail than for those that work, dead ends pruned. The constants
// are not published; the usual values were chosen on the made-up landscapes of landscapes/ that bear their kind's name,
// and checked on the others. A trial in flight counts as a visit with the least reward, so that several in flight
// spread (virtual loss).
#include <algorithm>
#include <cmath>
#include <limits>

#include "search/policy.h"

namespace solstice::search {
namespace {

constexpr double kLeast = -0.25;  // reward of what is as slow as it can be, and of failures

struct Statistics {
  double visits = 0, sum = 0, most = kLeast;
  bool alive = false;  // something in the subtree can be expanded
};

class Search {
 public:
  Search(const Tree& tree, const Values& values) : tree_(tree), values_(values), at_(tree.nodes().size()) {
    for (size_t i = at_.size(); i-- > 0;) collect(tree.nodes()[i]);
  }

  std::optional<Decision> descend() const {
    if (!at_[0].alive) return any();
    const Node* node = &tree_.node(0);
    while (!widens(*node)) node = &tree_.node(best_child(*node));
    return Decision{node->id};
  }

 private:
  // If every branch is pruned or full, what is left is still better than nothing.
  std::optional<Decision> any() const {
    const std::vector<int> open = open_nodes(tree_), best = ranked(tree_, open);
    if (open.empty()) return std::nullopt;
    return Decision{best.empty() ? open.front() : best.front()};
  }

  double value(std::string_view name) const { return values_.find(name)->second; }

  double reward(const Node& node) const {
    if (!tree_.comparable(node)) return kLeast;
    return std::clamp(std::log2(tree_.speedup(node)) / std::log2(value("full_reward")), kLeast, 1.0);
  }

  // Children have higher numbers than their parents: all are there when a node is looked at.
  void collect(const Node& node) {
    Statistics& mine = at_[static_cast<size_t>(node.id)];
    const double own = node.id == 0 ? 0 : reward(node);
    mine.visits += 1;
    mine.sum += own;
    mine.most = std::max(mine.most, own);
    for (const int child : node.children) {
      const Statistics& below = at_[static_cast<size_t>(child)];
      mine.visits += below.visits;
      mine.sum += below.sum;
      mine.most = std::max(mine.most, below.most);
      mine.alive = mine.alive || below.alive;
    }
    if (pruned(node)) mine.alive = false;
    mine.alive = mine.alive || widens(node);
  }

  // The last so many children have failed.
  bool pruned(const Node& node) const {
    const auto last = static_cast<size_t>(value("prune"));
    if (node.id == 0 || node.children.size() < last) return false;
    return std::all_of(node.children.end() - static_cast<std::ptrdiff_t>(last), node.children.end(),
                       [&](int child) { return tree_.node(child).failed(); });
  }

  bool widens(const Node& node) const {
    if (!node.open() || pruned(node)) return false;
    const double visits = at_[static_cast<size_t>(node.id)].visits;
    const double most = node.failed()  ? value("failing_children")
                        : node.id == 0 ? value("root_children")
                                       : value("children");
    return static_cast<double>(node.children.size()) < std::min(most, std::ceil(std::pow(visits, value("widening"))));
  }

  int best_child(const Node& node) const {
    const double parent = std::log(at_[static_cast<size_t>(node.id)].visits), mixed = value("best");
    int best = -1;
    double most = -std::numeric_limits<double>::infinity();
    for (const int child : node.children) {
      const Statistics& s = at_[static_cast<size_t>(child)];
      if (!s.alive) continue;
      const double score =
          mixed * s.most + (1 - mixed) * s.sum / s.visits + value("exploration") * std::sqrt(parent / s.visits);
      if (score >= most) best = child, most = score;  // of equals the newest, which walks over plateaus
    }
    return best;
  }

  const Tree& tree_;
  const Values& values_;
  std::vector<Statistics> at_;
};

std::optional<Decision> mcts_decision(const Tree& tree, const Values& values, Random&) {
  return Search(tree, values).descend();
}

}  // namespace

extern const PolicySpec solstice_policies_mcts;
const PolicySpec solstice_policies_mcts = {
    .name = "mcts",
    .about = "UCT on log-speedups with progressive widening, asymmetric branching and pruned dead ends",
    .source = "KernelPro, arXiv 2606.26453",
    .parameters = {{"exploration", 0.1, 0, 100, false, "weight of what is seldom visited (UCT's c)"},
                   {"full_reward", 16, 1.1, 1000, false, "the speedup that is rewarded with 1"},
                   {"best", 0.5, 0, 1, false, "share of a branch's best reward, beside its mean, in its value"},
                   {"widening", 0.75, 0.1, 1, false, "a node of N visits may have N to this power children"},
                   {"root_children", 8, 1, 1000, true, "the problem's, at most"},
                   {"children", 4, 1, 1000, true, "of a node that works, at most"},
                   {"failing_children", 2, 0, 1000, true, "of a node that fails, at most"},
                   {"prune", 3, 1, 1000, true, "failing children in a row that end a branch"}},
    .decide = mcts_decision,
};

}  // namespace solstice::search
