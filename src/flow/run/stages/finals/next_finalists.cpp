#include "flow/run/stages/finals/next_finalists.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "propose/formulation/label.h"
#include "propose/moves/more_exact.h"

namespace solstice::flow {
namespace {

constexpr size_t kFinalists = 3, kMostRefused = 6;
constexpr double kWithin = 1.05;  // of the fastest: beyond this a trial's few repetitions decide well enough

// What a value family tells of: the equations and the arithmetic, not tiles.
std::string kind_of(const search::Node& node) {
  std::string out = propose::equations_key(node.proposal, node.id);
  for (const std::string& setting : node.proposal.settings) out += "|" + propose::math_in(setting);
  return out;
}

std::set<std::string> kinds_of(const search::Tree& tree, const std::vector<int>& nodes) {
  std::set<std::string> out;
  for (const int id : nodes) out.insert(kind_of(tree.node(id)));
  return out;
}

}  // namespace

bool is_like_refused(const search::Tree& tree, int node, const std::vector<int>& refused) {
  return kinds_of(tree, refused).contains(kind_of(tree.node(node)));
}

std::vector<int> next_finalists(const search::Tree& tree, const std::vector<int>& refused, Seconds most) {
  if (refused.size() >= kMostRefused) return {};
  const std::set<std::string> refused_kinds = kinds_of(tree, refused);
  // its time is no rival of others'; its kind was refused; time; id
  using Place = std::tuple<bool, bool, double, int>;
  std::vector<Place> usable;
  for (const search::Node& node : tree.nodes()) {
    if (node.id == 0 || !node.usable() || std::find(refused.begin(), refused.end(), node.id) != refused.end()) continue;
    const Seconds time = node.measurement->time;
    if (most.value > 0 && time > most) continue;
    const bool again = refused_kinds.contains(kind_of(node));
    usable.emplace_back(!tree.comparable(node), again, time.value, node.id);
  }
  std::sort(usable.begin(), usable.end());
  std::vector<int> out;
  for (const auto& [incomparable, again, time, id] : usable) {
    const auto& [first_incomparable, first_again, fastest, first] = usable.front();
    const bool alike = incomparable == first_incomparable && again == first_again;
    if (out.size() == kFinalists || !alike || time > fastest * kWithin) break;
    out.push_back(id);
  }
  return out;
}

std::string first_refusal(const search::Tree& tree) {
  for (const search::Node& node : tree.nodes()) {
    if (node.failed()) return fmt::format("; trial {}: {}", node.id, node.measurement->detail);
  }
  return "";
}

}  // namespace solstice::flow
