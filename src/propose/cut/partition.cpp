#include "propose/cut/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ir/analysis/contraction.h"
#include "ir/domain.h"
#include "ir/opaque.h"
#include "ir/walk_distinct.h"
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
        while (!stopped() && merge_one(consumer)) changed = true;
        if (stopped()) return;
        if (take_followers(consumer)) changed = true;
      }
    }
  }

  std::vector<Group> ordered() const { return grouping_.ordered(); }

 private:
  static constexpr size_t kLong = 32;  // equations; a longer group takes several others at once

  bool stopped() const { return is_asked(context_.stop); }

  void add(std::vector<int> equations) {
    grouping_.put(grouping_.size(), assessor_.assess(std::move(equations), context_));
  }

  bool merge_one(size_t consumer) {
    if (!grouping_.alive(consumer)) return false;
    const std::set<size_t> producers = grouping_.producers_of(consumer);
    for (size_t producer : producers) {
      if (is_refused(producer, consumer) || grouping_.has_detour(producer, consumer)) continue;
      if (try_merge(producer, consumer, false)) return true;
    }
    return merge_sibling(consumer);
  }

  // Siblings that depend on each other, be it through others, are no two kernels that one could be.
  bool merge_sibling(size_t consumer) {
    std::set<size_t> siblings = grouping_.siblings_of(consumer);
    std::erase_if(siblings, [&](size_t sibling) { return is_refused(sibling, consumer); });
    if (siblings.empty()) return false;
    const std::vector<char> related = grouping_.related_to(consumer);
    return std::any_of(siblings.begin(), siblings.end(),
                       [&](size_t sibling) { return !related[sibling] && try_merge(sibling, consumer, true); });
  }

  // Asking families about a group takes as long as the group, so one that grows by one equation at a time takes the
  // square of its length. A long group grows by half of itself instead, into the place of the last follower, where one
  // kernel is no slower than all of them apart; by a quarter where half is too much, and so on.
  bool take_followers(size_t group) {
    const size_t length = grouping_[group].equations.size();
    if (length < kLong || !grouping_[group].family) return false;
    std::vector<size_t> followers = grouping_.followers_of(group, length / 2);
    for (; followers.size() > 1; followers.resize(followers.size() / 2)) {
      if (try_take(group, followers)) return true;
    }
    return false;
  }

  bool try_take(size_t group, const std::vector<size_t>& followers) {
    Group all = grouping_[group];
    Seconds apart = all.cost;
    for (const size_t f : followers) {
      if (!grouping_[f].family) return false;
      all.equations = union_of(all, grouping_[f]);
      apart += grouping_[f].cost;
    }
    Group merged = assessor_.assess(std::move(all.equations), context_);
    if (!merged.family || merged.cost > apart) return false;
    grouping_.put(followers.back(), std::move(merged));
    grouping_.put(group, Group{});
    for (size_t f = 0; f + 1 < followers.size(); ++f) grouping_.put(followers[f], Group{});
    return true;
  }

  // Groups only ever grow, so a pair that was refused is known by its two groups.
  std::pair<size_t, size_t> pair_of(size_t a, size_t b) const {
    return std::minmax({grouping_.stamp(a), grouping_.stamp(b)});
  }
  bool is_refused(size_t a, size_t b) const { return refused_.contains(pair_of(a, b)); }

  // `gainful`: only where one kernel is faster than two, not where it is as fast.
  bool try_merge(size_t producer, size_t consumer, bool gainful) {
    const Group& a = grouping_[producer];
    const Group& b = grouping_[consumer];
    Group merged = assessor_.assess(union_of(a, b), context_);
    const bool apart_is_possible = a.family && b.family;
    const Seconds apart = a.cost + b.cost;
    const bool worth = !apart_is_possible ? !gainful : gainful ? merged.cost < apart : merged.cost <= apart;
    if (!merged.family || !worth) {
      refused_.insert(pair_of(producer, consumer));
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
  std::set<std::pair<size_t, size_t>> refused_;  // by their stamps
};

// The family for equations of this form.
std::string_view closest_family(const ir::Equation& equation) {
  if (equation.group >= 0) return "scan";
  if (ir::has_contraction(equation)) return "gemm";
  bool reduces = false;
  ir::walk_distinct(equation.rhs, [&](const ir::Expr& e) { reduces = reduces || e.op == ir::Op::kReduce; });
  return reduces ? "rows" : "map";
}

std::string closest_reason(const ir::Equation& equation, const std::vector<std::string>& reasons) {
  const std::string name = std::string(closest_family(equation)) + ": ";
  const auto found =
      std::find_if(reasons.begin(), reasons.end(), [&](const std::string& one) { return one.starts_with(name); });
  return found != reasons.end() ? *found : reasons.empty() ? "" : reasons.front();
}

Status can_be_cut(const ir::Program& problem) {
  if (!problem.opaques.empty())
    return fail(Code::unsupported_operator, fmt::format("`{}` has no equations", problem.opaques[0].op),
                ir::kRunByPyTorch);
  if (problem.equations.empty()) return fail(Code::bad_argument, "the program has no equations: nothing to run");
  return success();
}

Result<Partition> runnable(const ir::Program& problem, Partition found) {
  for (const Group& group : found.groups) {
    if (group.family) continue;
    const ir::Equation& first = problem.equation(group.equations.front());
    Error error = fail(Code::unsupported_operator,
                       fmt::format("no kernel family runs `{}` yet", ir::to_text(problem, first)), ir::kRunByPyTorch);
    if (const std::string near = closest_reason(first, group.reasons); !near.empty())
      error.message += fmt::format("; the closest is {}", near);
    error.reasons = group.reasons;
    error.offset = first.span.begin;
    return error;
  }
  return found;
}

// Products that a thread adds up by itself read their operands once for each.
bool sums_many_products(const ir::Program& problem, int equation) {
  constexpr double kMany = 32;
  const ir::Equation& e = problem.equation(equation);
  if (!ir::has_contraction(e)) return false;
  const ir::Domain domain(e);
  const std::vector<ir::ProductSum> sums = ir::product_sums(e);
  return std::any_of(sums.begin(), sums.end(), [&](const ir::ProductSum& sum) {
    ir::IndexSet summed;
    for (const int index : ir::indices_of(sum.node->args[0])) {
      if (sum.is_summed(index)) summed.insert(index);
    }
    return domain.points(summed) >= kMany;
  });
}

}  // namespace

Result<std::vector<Unserved>> unserved(const ir::Program& problem, const PlanningContext& context) {
  SOLSTICE_CHECK(can_be_cut(problem));
  Merger merger(problem, context);
  merger.merge_all();
  std::vector<Unserved> out;
  for (const Group& group : merger.ordered()) {
    for (const int equation : group.equations) {
      if (!group.family)
        out.push_back({equation, "no kernel family runs it yet"});
      else if (group.family->name == "map" && sums_many_products(problem, equation))
        out.push_back({equation, "it has no kernel family of its own yet"});
    }
  }
  return out;
}

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
