#include "flow/finalists.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "propose/label.h"

namespace solstice::flow {
namespace {

constexpr size_t kFinalists = 3, kMostRefused = 6;
constexpr double kWithin = 1.05;  // of the fastest: beyond this a trial's few repetitions decide well enough

}  // namespace

std::vector<int> next_finalists(const search::Tree& tree, const std::vector<int>& refused, Seconds most) {
  if (refused.size() >= kMostRefused) return {};
  std::set<std::string> refused_equations;
  for (const int id : refused) refused_equations.insert(propose::equations_key(tree.node(id).proposal, id));
  using Place = std::tuple<bool, double, int>;  // whether its equations were refused, time, id
  std::vector<Place> usable;
  for (const search::Node& node : tree.nodes()) {
    if (node.id == 0 || !node.usable() || std::find(refused.begin(), refused.end(), node.id) != refused.end()) continue;
    const Seconds time = node.measurement->time;
    if (most.value > 0 && time > most) continue;
    usable.emplace_back(refused_equations.contains(propose::equations_key(node.proposal, node.id)), time.value, node.id);
  }
  std::sort(usable.begin(), usable.end());
  std::vector<int> out;
  for (const auto& [again, time, id] : usable) {
    if (out.size() == kFinalists || again != std::get<0>(usable[0]) || time > std::get<1>(usable[0]) * kWithin) break;
    out.push_back(id);
  }
  return out;
}

}  // namespace solstice::flow
