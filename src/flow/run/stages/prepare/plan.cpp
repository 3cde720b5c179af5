#include "flow/run/stages/prepare/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/process/interrupt.h"
#include "base/time_text.h"
#include "flow/run/stages/prepare/recall.h"
#include "ir/rewrite/driver.h"
#include "propose/formulation/plan.h"

namespace solstice::flow {
namespace {

constexpr double kPlanning = 0.5;  // of the budget that the import left, at most: the rest is for trials

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

class Planner {
 public:
  Planner(Run& run, const Opened& opened, const Imported& imported, Bounds& bounds)
      : run_(run),
        opened_(opened),
        imported_(imported),
        bounds_(bounds),
        problem_(std::make_shared<const ir::BoundText>(ir::BoundText{imported.problem.tree, imported.problem.program})),
        stop_([end = monotonic_now() + (run.options.search.budget - run.imported) * kPlanning] {
          return interrupted() || monotonic_now() > end;
        }) {}

  Result<propose::Plan> plain() { return plan(problem_, {}); }

  // The plan of the rewritten equations, with the bounds lowered; nothing where no rewrite saves anything, or where the
  // rewritten equations cannot be run.
  std::optional<propose::Plan> rewritten() {
    if (stop_()) return warn("rewrites were not tried: the time was up");
    ir::RewriteOptions options;
    options.stop = stop_;
    options.keep_nonfinite = run_.options.terms.rewrites == "strict";
    Result<ir::RewriteResult> rewritten = ir::rewrite_all(*problem_, options);
    if (!rewritten.ok()) return warn("rewrites were not tried: " + rewritten.error().message);
    if (!rewritten->finished)
      warn(stop_() ? "not all rewrites were tried: the time was up"
                   : "the program is large: not all rewrites were tried");
    if (rewritten->steps.empty()) return std::nullopt;
    names_ = names_of(rewritten->steps);
    const auto equations = std::make_shared<const ir::BoundText>(std::move(rewritten->result));
    propose::Derivation from{problem_, {}};
    for (const ir::Site& step : rewritten->steps) from.steps.push_back(propose::step_of(step));
    Result<propose::Plan> planned = plan(equations, std::move(from));
    if (!planned.ok()) {
      return warn(fmt::format("the equations rewritten by {} are not run: {}", names_, planned.error().message));
    }
    if (const Status lower = lower_bounds(run_, opened_, imported_, equations->program, bounds_); !lower.ok())
      return warn("no bounds of the rewritten equations: " + lower.error().message);
    return std::move(planned).value();
  }

  // Of the rewrites that apply.
  const std::string& names() const { return names_; }

 private:
  Result<propose::Plan> plan(std::shared_ptr<const ir::BoundText> equations, propose::Derivation from) {
    const CandidateTerms& terms = run_.options.terms;
    const propose::PlanningContext context{opened_.machine,   terms.numerics, terms.frozen,
                                           terms.rewritten(), stop_,          terms.keep_nonfinite()};
    return propose::plan(std::move(equations), context, std::move(from));
  }

  std::nullopt_t warn(std::string text) {
    run_.report.warnings.push_back(std::move(text));
    return std::nullopt;
  }

  Run& run_;
  const Opened& opened_;
  const Imported& imported_;
  Bounds& bounds_;
  std::shared_ptr<const ir::BoundText> problem_;
  const StopTest stop_;
  std::string names_;
};

}  // namespace

Status bound_rewritten(Run& run, const Opened& opened, const Imported& imported, Bounds& bounds) {
  return stage(run, "rewrites", "what they leave to move", [&]() -> Result<std::string> {
    Planner planner(run, opened, imported, bounds);
    (void)planner.rewritten();  // equations that cannot be run lower nothing, here as there
    const std::string& names = planner.names();
    return names.empty() ? std::string("none") : fmt::format("{}: io {}", names, time_text(bounds.io()));
  });
}

Result<Planned> plan_kernels(Run& run, const Opened& opened, const Imported& imported, Bounds& bounds) {
  Planned out;
  const Seconds began = monotonic_now();
  const Status done = stage(run, "plan", "cutting the program into kernels", [&]() -> Result<std::string> {
    Planner planner(run, opened, imported, bounds);
    SOLSTICE_TRY(propose::Plan plain, planner.plain());
    std::optional<propose::Plan> other = run.options.terms.rewritten() ? planner.rewritten() : std::nullopt;
    const bool leads = other && other->cost < plain.cost;
    out.scheduled = leads ? other->formulation.scheduled : plain.formulation.scheduled;
    std::string text = plain.text();
    std::vector<propose::Formulation> formulations;
    formulations.push_back(std::move(plain.formulation));
    if (other) {
      run.report.rewrites = planner.names();
      const std::string label = "rewritten by " + planner.names();
      text += fmt::format("; {}: {}, predicted {:.3g}x", label, other->text(), plain.cost / other->cost);
      other->formulation.label = label;
      formulations.insert(leads ? formulations.begin() : formulations.end(), std::move(other->formulation));
    }
    const Recalled recalled = recalled_facts(run, opened);
    out.expert =
        std::make_unique<propose::Expert>(std::move(formulations), known_candidates(run, opened), recalled.memory,
                                          propose::Hearing{run.options.search.findings, recalled.tools});
    return text;
  });
  SOLSTICE_CHECK(done);
  out.took = monotonic_now() - began;
  return out;
}

}  // namespace solstice::flow
