#include "propose/cut/partition.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "propose/cut/assessor.h"
#include "propose/cut/dataflow.h"
#include "propose/cut/grouping.h"

namespace solstice::propose {
namespace {

class Merger {
 public:
  // Each equation for itself; those of a recurrence stay together.
  Merger(const ir::Program& problem, const PlanningContext& context)
      : context_(context), flow_(problem), assessor_(problem, flow_, nullptr), grouping_(problem, flow_) {
    std::map<int, std::vector<int>> recurrences;
    for (size_t e = 0; e < problem.equations.size(); ++e) {
      const int group = problem.equations[e].group;
      if (group >= 0)
        recurrences[group].push_back(static_cast<int>(e));
      else
        add({static_cast<int>(e)});
    }
    for (auto& [id, equations] : recurrences) add(std::move(equations));
  }

  // Passes over all groups until one merges nothing. A group that grew is tried again at once.
  void merge_all() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (size_t consumer = 0; consumer < grouping_.size(); ++consumer) {
        while (merge_one(consumer)) changed = true;
      }
    }
  }

  std::vector<Group> ordered() const { return grouping_.ordered(); }

 private:
  void add(std::vector<int> equations) {
    grouping_.put(grouping_.size(), assessor_.assess(std::move(equations), context_));
  }

  bool merge_one(size_t consumer) {
    if (!grouping_.alive(consumer)) return false;
    const std::set<size_t> producers = grouping_.producers_of(consumer);
    for (size_t producer : producers) {
      if (try_merge(producer, consumer, false)) return true;
    }
    for (size_t sibling : grouping_.siblings_of(consumer)) {
      if (producers.contains(sibling) || grouping_.producers_of(sibling).contains(consumer) ||
          grouping_.has_detour(consumer, sibling))
        continue;
      if (try_merge(sibling, consumer, true)) return true;
    }
    return false;
  }

  // `gainful`: only where one kernel is faster than two, not where it is as fast.
  bool try_merge(size_t producer, size_t consumer, bool gainful) {
    const Group& a = grouping_[producer];
    const Group& b = grouping_[consumer];
    std::vector<int> both = union_of(a, b);
    if (refused_.contains(both) || grouping_.has_detour(producer, consumer)) return false;
    Group merged = assessor_.assess(both, context_);
    const bool apart_is_possible = a.family && b.family;
    const Seconds apart = a.cost + b.cost;
    const bool worth = !apart_is_possible ? !gainful : gainful ? merged.cost < apart : merged.cost <= apart;
    if (!merged.family || !worth) {
      refused_.insert(std::move(both));
      return false;
    }
    grouping_.put(consumer, std::move(merged));
    grouping_.put(producer, Group{});
    return true;
  }

  const PlanningContext& context_;
  Dataflow flow_;
  Assessor assessor_;
  Grouping grouping_;
  std::set<std::vector<int>> refused_;
};

Status can_be_cut(const ir::Program& problem) {
  if (!problem.opaques.empty()) return fail(Code::unsupported_operator, problem.opaques[0].op);
  if (problem.equations.empty()) return fail(Code::bad_argument, "the program has no equations: nothing to run");
  return success();
}

Result<Partition> runnable(const ir::Program& problem, Partition found) {
  for (const Group& group : found.groups) {
    if (group.family) continue;
    const ir::Equation& first = problem.equation(group.equations.front());
    return fail(Code::unsupported_operator,
                fmt::format("no kernel family runs `{}` yet ({})", ir::to_text(problem, first), group.reason));
  }
  return found;
}

}  // namespace

Result<Partition> partition(const ir::Program& problem, const PlanningContext& context) {
  SOLSTICE_CHECK(can_be_cut(problem));
  Merger merger(problem, context);
  merger.merge_all();
  return runnable(problem, {merger.ordered()});
}

Result<Partition> cut_as(const ir::Program& problem, const std::vector<std::vector<int>>& groups,
                         const PlanningContext& context, Assessed* known) {
  SOLSTICE_CHECK(can_be_cut(problem));
  const Dataflow flow(problem);
  Assessor assessor(problem, flow, known);
  Partition out;
  for (const std::vector<int>& group : groups) out.groups.push_back(assessor.assess(group, context));
  return runnable(problem, std::move(out));
}

ir::Program apply(const ir::Program& problem, const Partition& partition) {
  const Dataflow flow(problem);
  ir::Program out = problem;
  out.kernels.clear();
  out.items.clear();
  for (const Group& group : partition.groups) {
    const int id = static_cast<int>(out.kernels.size());
    ir::Kernel kernel;
    kernel.family = group.family ? std::string(group.family->name) : "";
    kernel.name = fmt::format("{}{}", group.family ? group.family->name : "kernel", id + 1);
    kernel.equations = group.equations;
    place_tensors(out, flow, group.equations, id);
    out.kernels.push_back(std::move(kernel));
    out.items.push_back({-1, id, -1});
  }
  return out;
}

}  // namespace solstice::propose
