// The problem cut into kernels, as it is and as rewrites make it, with the proposer that varies the schedules.
#include "propose/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/time_text.h"
#include "flow/run/state/facts.h"
#include "flow/run/stages/known.h"
#include "flow/run/state/run.h"
#include "ir/rewrite/driver.h"

namespace solstice::flow {
namespace {

Result<propose::Plan> plan_of(Session& state, std::shared_ptr<const ir::BoundText> equations,
                              propose::Derivation from = {}) {
  return propose::plan(std::move(equations),
                       {*state.machine, state.options.numerics, state.options.frozen, state.options.rewrites},
                       std::move(from));
}

// "factor_sums, fold_scalars"
std::string names_of(const std::vector<ir::Site>& steps) {
  std::vector<std::string> names;
  for (const ir::Site& step : steps) {
    if (std::find(names.begin(), names.end(), step.rewrite->name) == names.end()) names.push_back(step.rewrite->name);
  }
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

// Its plan, and the lower bounds; nothing where no rewrite saves anything, or what it makes cannot be run.
std::optional<propose::Plan> plan_rewritten(Session& state, std::shared_ptr<const ir::BoundText> problem,
                                            std::string& names) {
  ir::RewriteOptions options;
  Result<ir::RewriteResult> rewritten = ir::rewrite_all(*problem, options);
  if (!rewritten.ok()) {
    state.report.warnings.push_back("rewrites were not tried: " + rewritten.error().message);
    return std::nullopt;
  }
  if (!rewritten->finished) state.report.warnings.push_back("the program is large: not all rewrites were tried");
  if (rewritten->steps.empty()) return std::nullopt;
  names = names_of(rewritten->steps);
  const auto equations = std::make_shared<const ir::BoundText>(std::move(rewritten->result));
  propose::Derivation from{std::move(problem), {}};
  for (const ir::Site& step : rewritten->steps) from.steps.push_back(propose::step_of(step));
  Result<propose::Plan> planned = plan_of(state, equations, std::move(from));
  if (!planned.ok()) {
    state.report.warnings.push_back(
        fmt::format("the equations rewritten by {} are not run: {}", names, planned.error().message));
    return std::nullopt;
  }
  if (const Status bounds = lower_bounds(state, equations->program); !bounds.ok()) {
    state.report.warnings.push_back("no bounds of the rewritten equations: " + bounds.error().message);
    return std::nullopt;
  }
  return std::move(planned).value();
}

std::shared_ptr<const ir::BoundText> problem_of(const Session& state) {
  return std::make_shared<const ir::BoundText>(ir::BoundText{state.problem->tree, state.problem->program});
}

}  // namespace

Status bound_rewritten(Session& state) {
  return stage(state, "rewrites", "what they leave to move", [&]() -> Result<std::string> {
    std::string names;
    (void)plan_rewritten(state, problem_of(state), names);  // what cannot be run lowers nothing, here as there
    return names.empty() ? std::string("none") : fmt::format("{}: io {}", names, time_text(state.bound_io));
  });
}

Status plan_kernels(Session& state) {
  return stage(state, "plan", "cutting the program into kernels", [&]() -> Result<std::string> {
    const auto problem = problem_of(state);
    SOLSTICE_TRY(propose::Plan plain, plan_of(state, problem));
    std::string names;
    std::optional<propose::Plan> other = state.options.rewrites ? plan_rewritten(state, problem, names) : std::nullopt;
    state.scheduled = other && other->cost < plain.cost ? other->formulation.scheduled : plain.formulation.scheduled;
    std::string text = plain.text();
    std::vector<propose::Formulation> formulations;
    formulations.push_back(std::move(plain.formulation));
    if (other) {
      state.report.rewrites = names;
      const std::string label = "rewritten by " + names;
      text += fmt::format("; {}: {}, predicted {:.3g}x", label, other->text(), plain.cost / other->cost);
      other->formulation.label = label;
      formulations.insert(other->cost < plain.cost ? formulations.begin() : formulations.end(),
                          std::move(other->formulation));
    }
    state.expert = std::make_unique<propose::Expert>(std::move(formulations), known_candidates(state), recalled(state));
    return text;
  });
}

}  // namespace solstice::flow
