#include "propose/formulation/plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace solstice::propose {

std::string Plan::text() const {
  constexpr size_t kNamed = 6;
  const size_t count = formulation.scheduled->kernels.size();
  std::string kernels;
  for (size_t k = 0; k < std::min(kNamed, count); ++k)
    kernels += (kernels.empty() ? "" : ", ") + formulation.scheduled->kernels[k].name;
  return fmt::format("{} {}: {}{}{}", count, count == 1 ? "kernel" : "kernels", kernels, count > kNamed ? ", ..." : "",
                     apart ? ", statistics apart" : "");
}

namespace {

constexpr size_t kMostEquations = 300;  // of more, rewriting takes long
constexpr double kGain = 0.95;          // cost models are wrong by as much

// Of a module's equation the import notes operator, file and line behind it.
Error placed(Error error, const std::vector<lang::Item>& items) {
  for (const lang::Item& item : items) {
    if (const auto* def = std::get_if<lang::Def>(&item.node)) error = placed(std::move(error), def->items);
    const bool is_it = std::holds_alternative<lang::Equation>(item.node) && item.span.begin == error.offset;
    if (is_it && !item.after.empty()) error.message += fmt::format(" (of {})", item.after);
  }
  return error;
}

void add_steps(const std::vector<ir::Site>& sites, std::vector<RewriteStep>* steps) {
  for (size_t i = 0; steps && i < sites.size(); ++i) steps->push_back(step_of(sites[i]));
}

}  // namespace

Result<Plan> plan_exactly(std::shared_ptr<const ir::BoundText> equations, const PlanningContext& context,
                          Derivation from) {
  Result<Partition> found = partition(equations->program, context);
  if (!found.ok()) return placed(std::move(found.error()), equations->tree.items);
  Partition parts = std::move(*found);
  Plan out;
  for (const Group& group : parts.groups) out.cost += group.cost;
  Equations whole{std::move(equations), context};
  whole.context.stop = {};  // a search goes on with them
  whole.from = std::move(from);
  SOLSTICE_TRY(out.formulation,
               formulate(std::make_shared<const Equations>(std::move(whole)), std::move(parts), context.stop));
  return out;
}

std::shared_ptr<const ir::BoundText> statistics_apart(const ir::BoundText& problem, std::vector<RewriteStep>* steps,
                                                      const StopTest& stop) {
  if (problem.program.equations.size() > kMostEquations) return nullptr;
  ir::RewriteOptions options;
  options.stop = stop;
  options.only = ir::find_rewrite("split_statistics");
  Result<ir::RewriteResult> apart = ir::rewrite_all(problem, options);
  if (!apart.ok() || apart->steps.empty()) return nullptr;
  options.only = ir::find_rewrite("share_statistics");
  Result<ir::RewriteResult> shared = ir::rewrite_all(apart->result, options);
  add_steps(apart->steps, steps);
  if (shared.ok()) add_steps(shared->steps, steps);
  return std::make_shared<const ir::BoundText>(std::move(shared.ok() ? shared->result : apart->result));
}

Result<Plan> plan(std::shared_ptr<const ir::BoundText> equations, const PlanningContext& context, Derivation from) {
  if (!context.through_equations) return plan_exactly(std::move(equations), context);
  if (!from.problem) from.problem = equations;
  Derivation further = from;
  const std::shared_ptr<const ir::BoundText> apart = statistics_apart(*equations, &further.steps, context.stop);
  Result<Plan> whole = plan_exactly(std::move(equations), context, std::move(from));
  if (!apart || is_asked(context.stop)) return whole;
  Result<Plan> other = plan_exactly(apart, context, std::move(further));
  if (!other.ok() || (whole.ok() && other->cost > whole->cost * kGain)) return whole;
  other->apart = true;
  return other;
}

}  // namespace solstice::propose
