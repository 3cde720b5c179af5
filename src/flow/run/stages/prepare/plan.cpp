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

// The problem's equations cut into kernels, as they are and rewritten. `warnings`: of what was left out.
class Planner {
 public:
  Planner(const CandidateTerms& terms, const machine::Machine& machine, const Problem& problem, Seconds time,
          std::vector<std::string>& warnings)
      : terms_(terms),
        machine_(machine),
        problem_(std::make_shared<const ir::BoundText>(ir::BoundText{problem.tree, problem.program})),
        warnings_(warnings),
        stop_([end = monotonic_now() + time * kPlanning] { return interrupted() || monotonic_now() > end; }) {}

  Result<propose::Plan> plain() { return plan(problem_, {}); }

  // The plan of the rewritten equations; nothing where no rewrite saves anything, or where the rewritten equations
  // cannot be run.
  std::optional<propose::Plan> rewritten() {
    if (stop_()) return warn("rewrites were not tried: the time was up");
    ir::RewriteOptions options;
    options.stop = stop_;
    options.keep_nonfinite = terms_.rewrites == "strict";
    Result<ir::RewriteResult> rewritten = ir::rewrite_all(*problem_, options);
    if (!rewritten.ok()) return warn("rewrites were not tried: " + rewritten.error().message);
    if (!rewritten->finished)
      warn(stop_() ? "not all rewrites were tried: the time was up"
                   : "the program is large: not all rewrites were tried");
    if (rewritten->steps.empty()) return std::nullopt;
    names_ = names_of(rewritten->steps);
    equations_ = std::make_shared<const ir::BoundText>(std::move(rewritten->result));
    propose::Derivation from{problem_, {}};
    for (const ir::Site& step : rewritten->steps) from.steps.push_back(propose::step_of(step));
    Result<propose::Plan> planned = plan(equations_, std::move(from));
    if (!planned.ok())
      return warn(fmt::format("the equations rewritten by {} are not run: {}", names_, planned.error().message));
    return std::move(planned).value();
  }

  // The same, with the bounds lowered.
  std::optional<propose::Plan> rewritten(Run& run, const Opened& opened, const Imported& imported, Bounds& bounds) {
    std::optional<propose::Plan> out = rewritten();
    if (!out) return std::nullopt;
    if (const Status lower = lower_bounds(run, opened, imported, equations_->program, bounds); !lower.ok())
      return warn("no bounds of the rewritten equations: " + lower.error().message);
    return out;
  }

  // Of the rewrites that apply.
  const std::string& names() const { return names_; }

 private:
  Result<propose::Plan> plan(std::shared_ptr<const ir::BoundText> equations, propose::Derivation from) {
    const propose::PlanningContext context{machine_,           terms_.numerics, terms_.frozen,
                                           terms_.rewritten(), stop_,           terms_.keep_nonfinite()};
    return propose::plan(std::move(equations), context, std::move(from));
  }

  std::nullopt_t warn(std::string text) {
    warnings_.push_back(std::move(text));
    return std::nullopt;
  }

  const CandidateTerms& terms_;
  const machine::Machine& machine_;
  std::shared_ptr<const ir::BoundText> problem_;
  std::shared_ptr<const ir::BoundText> equations_;  // rewritten
  std::vector<std::string>& warnings_;
  const StopTest stop_;
  std::string names_;
};

bool leads(const std::optional<propose::Plan>& rewritten, const propose::Plan& plain) {
  return rewritten && rewritten->cost < plain.cost;
}

Planner planner_of(Run& run, const Opened& opened, const Imported& imported) {
  return Planner(run.options.terms, opened.machine, imported.problem, run.options.search.budget - run.imported,
                 run.report.warnings);
}

}  // namespace

Status bound_rewritten(Run& run, const Opened& opened, const Imported& imported, Bounds& bounds) {
  return stage(run, "rewrites", "what they leave to move", [&]() -> Result<std::string> {
    Planner planner = planner_of(run, opened, imported);
    (void)planner.rewritten(run, opened, imported,
                            bounds);  // equations that cannot be run lower nothing, here as there
    const std::string& names = planner.names();
    return names.empty() ? std::string("none") : fmt::format("{}: io {}", names, time_text(bounds.io()));
  });
}

Result<Planned> plan_kernels(Run& run, const Opened& opened, const Imported& imported, Bounds& bounds) {
  Planned out;
  const Seconds began = monotonic_now();
  const Status done = stage(run, "plan", "cutting the program into kernels", [&]() -> Result<std::string> {
    Planner planner = planner_of(run, opened, imported);
    SOLSTICE_TRY(propose::Plan plain, planner.plain());
    std::optional<propose::Plan> other =
        run.options.terms.rewritten() ? planner.rewritten(run, opened, imported, bounds) : std::nullopt;
    const bool first = leads(other, plain);
    out.scheduled = first ? other->formulation.scheduled : plain.formulation.scheduled;
    std::string text = plain.text();
    std::vector<propose::Formulation> formulations;
    formulations.push_back(std::move(plain.formulation));
    if (other) {
      run.report.rewrites = planner.names();
      const std::string label = "rewritten by " + planner.names();
      text += fmt::format("; {}: {}, predicted {:.3g}x", label, other->text(), plain.cost / other->cost);
      other->formulation.label = label;
      formulations.insert(first ? formulations.begin() : formulations.end(), std::move(other->formulation));
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

Result<std::string> first_choice(const CandidateTerms& terms, const machine::Machine& machine, const Problem& problem,
                                 Seconds time) {
  std::vector<std::string> ignored;  // whoever searches warns
  Planner planner(terms, machine, problem, time, ignored);
  SOLSTICE_TRY(propose::Plan plain, planner.plain());
  std::optional<propose::Plan> other = terms.rewritten() ? planner.rewritten() : std::nullopt;
  std::vector<propose::Formulation> formulations;
  formulations.push_back(std::move((leads(other, plain) ? *other : plain).formulation));
  propose::Expert expert(std::move(formulations));
  SOLSTICE_TRY(const std::optional<search::Proposal> proposal, expert.propose(search::Tree(), 0));
  return proposal ? proposal->program : "";
}

}  // namespace solstice::flow
