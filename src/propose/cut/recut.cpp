#include "propose/cut/recut.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "propose/cut/assessor.h"
#include "propose/cut/grouping.h"

namespace solstice::propose {
namespace {

class Recutter {
 public:
  Recutter(const ir::Program& problem, const PlanningContext& context, const Partition& cut, Assessed* known)
      : context_(context),
        program_(problem),
        flow_(problem),
        assessor_(problem, flow_, known),
        grouping_(problem, flow_) {
    for (const Group& group : cut.groups) grouping_.put(grouping_.size(), group);
  }

  std::vector<Recut> fused() {
    std::map<std::pair<Kind, Kind>, std::vector<std::pair<size_t, size_t>>> pairs;
    for (size_t consumer = 0; consumer < grouping_.size(); ++consumer) {
      for (const size_t other : grouping_.partners_of(consumer))
        pairs[{kind_of(other), kind_of(consumer)}].emplace_back(other, consumer);
    }
    std::vector<Recut> out;
    for (const auto& [kinds, alike] : pairs) {
      Changes changes;
      std::set<size_t> taken;
      for (const auto& [other, consumer] : alike) {
        if (taken.contains(other) || taken.contains(consumer)) continue;
        Group merged = assessor_.assess(union_of(grouping_[other], grouping_[consumer]), context_);
        if (!merged.family) continue;
        taken.insert({other, consumer});
        changes.emplace_back(other, Group{});
        changes.emplace_back(consumer, std::move(merged));
      }
      if (changes.empty()) continue;
      const std::string step = fmt::format("fuses {} and {}{}", name_of(changes[0].first), name_of(changes[1].first),
                                           more(changes.size() / 2));
      if (std::optional<Recut> cut = with(changes, step)) out.push_back(std::move(*cut));
    }
    return out;
  }

  std::vector<Recut> split() {
    std::map<Kind, std::vector<size_t>> kinds;
    for (size_t g = 0; g < grouping_.size(); ++g) kinds[kind_of(g)].push_back(g);
    std::vector<Recut> out;
    for (const auto& [kind, alike] : kinds) {
      for (size_t at = 1; at < grouping_[alike[0]].equations.size() && at <= kMostSplits; ++at) {
        Changes changes;
        for (const size_t g : alike) split_before(g, at, changes);
        if (changes.empty()) continue;
        const size_t first = changes[0].first;
        const std::string target = program_.tensor(program_.equation(grouping_[first].equations[at]).target).name;
        const std::string step =
            fmt::format("splits {} before `{}`{}", name_of(first), target, more(changes.size() / 2));
        if (std::optional<Recut> cut = with(changes, step)) out.push_back(std::move(*cut));
      }
    }
    return out;
  }

 private:
  static constexpr size_t kMostSplits = 8;  // of a group

  // Groups of a kind are alike, repeated layers above all: they are fused or split together. By the family's name, so
  // that ties have one order.
  using Kind = std::tuple<std::string_view, double, size_t>;
  Kind kind_of(size_t group) const {
    return {grouping_[group].family->name, grouping_[group].cost.value, grouping_[group].equations.size()};
  }

  // New groups, by where they go: an empty one is gone, those beyond the last are new.
  using Changes = std::vector<std::pair<size_t, Group>>;

  // As apply() calls its kernel.
  std::string name_of(size_t group) const { return fmt::format("{}{}", grouping_[group].family->name, group + 1); }
  static std::string more(size_t count) { return count > 1 ? fmt::format(", and {} alike", count - 1) : ""; }

  // Nothing where a recurrence would be torn apart, or no family runs a part.
  void split_before(size_t group, size_t at, Changes& changes) {
    const std::vector<int> equations = grouping_[group].equations;
    const auto middle = equations.begin() + static_cast<std::ptrdiff_t>(at);
    const int recurrence = program_.equation(*middle).group;
    if (recurrence >= 0 && recurrence == program_.equation(*(middle - 1)).group) return;
    Group front = assessor_.assess({equations.begin(), middle}, context_),
          back = assessor_.assess({middle, equations.end()}, context_);
    if (!front.family || !back.family) return;
    changes.emplace_back(group, std::move(front));
    changes.emplace_back(grouping_.size() + changes.size() / 2, std::move(back));
  }

  // The cut with some groups replaced, in an order in which it can run. Nothing where there is none: fusing several
  // pairs at once may close a circle that one alone does not.
  std::optional<Recut> with(const Changes& changes, std::string step) const {
    Grouping changed = grouping_;
    for (const auto& [at, group] : changes) changed.put(at, group);
    Recut out{{changed.ordered()}, std::move(step), Seconds(0)};
    if (!changed.is_order(out.partition.groups)) return std::nullopt;
    for (const Group& group : out.partition.groups) out.cost += group.cost;
    return out;
  }

  const PlanningContext& context_;
  const ir::Program& program_;
  Dataflow flow_;
  Assessor assessor_;
  Grouping grouping_;
};

}  // namespace

std::vector<Recut> recuts(const ir::Program& problem, const Partition& from, const PlanningContext& context,
                          Assessed* known) {
  constexpr size_t kMostGroups = 24;
  if (from.groups.size() > kMostGroups) return {};
  Recutter recutter(problem, context, from, known);
  std::vector<Recut> out = recutter.fused(), apart = recutter.split();
  std::move(apart.begin(), apart.end(), std::back_inserter(out));
  std::stable_sort(out.begin(), out.end(), [](const Recut& a, const Recut& b) { return a.cost < b.cost; });
  return out;
}

}  // namespace solstice::propose
