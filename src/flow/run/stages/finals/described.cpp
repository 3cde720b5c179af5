#include "flow/run/stages/finals/described.h"

#include <fmt/format.h>

#include "base/time_text.h"
#include "flow/run/report/measured.h"
#include "flow/run/state/trial_of.h"
#include "rt/load.h"
#include "run/timing_stats.h"
#include "search/counts.h"

namespace solstice::flow {
namespace {

// A finalist's time is that of the final rounds, any other's that of its trial.
Measured time_of(const std::vector<Finalist>& finalists, const search::Node& node) {
  for (const Finalist& finalist : finalists) {
    if (finalist.node != node.id || !finalist.timing) continue;
    return measured_of(*finalist.timing, &TimingRound::candidate);
  }
  std::vector<double> seconds;
  const Json& list = node.measurement->record.at("seconds");
  for (size_t i = 0; i < list.size(); ++i) seconds.push_back(list.at(i).as_double());
  Measured out = measured_of(seconds);
  out.median = node.measurement->time;
  return out;
}

void add_candidates(Run& run, const std::vector<Finalist>& finalists) {
  for (const search::Node& node : run.tree.nodes()) {
    if (node.id == 0 || !node.measurement) continue;
    CandidateRow row;
    row.trial = node.id;
    row.what = node.proposal.reason;
    row.state = enum_name(node.measurement->state);
    row.predicted = prediction_of(node);
    row.note = node.measurement->detail;
    row.took = node.measurement->cost;
    row.meaning = node.measurement->record.at("meaning").as_string();
    if (node.usable() && node.measurement->state == TrialState::kVerified) row.time = time_of(finalists, node);
    for (const Finalist& finalist : finalists) {
      if (finalist.node == node.id) row.timing = finalist.timing;
    }
    run.report.candidates.push_back(std::move(row));
  }
}

// Trials that should have times by kernel and have none.
void warn_of_traces(Run& run) {
  int number = 0;
  std::string why;
  for (const search::Node& node : run.tree.nodes()) {
    if (node.id == 0 || !node.usable()) continue;
    const std::string note = node.measurement->record.at("trace").at("note").as_string();
    if (note.empty()) continue;
    ++number;
    if (why.empty()) why = note;
  }
  if (number == 0) return;
  run.report.warnings.push_back(
      fmt::format("{} {} no times by kernel: {}", number, number == 1 ? "trial has" : "trials have", why));
}

std::string verdict_of(const std::vector<Finalist>& finalists, const Finalist* winner) {
  if (winner) return "passed " + cases_text(*winner->verdict);
  for (const Finalist& finalist : finalists) {
    if (finalist.verdict && !finalist.verdict->passed()) return finalist.refused;
  }
  return "";
}

// Of what ran, else of the plan.
void add_kernels(Run& run, const ReachedStages& reached, const Finalist* winner) {
  if (!reached.planned) return;
  std::optional<ir::Program> program;
  const search::Node* best = winner ? &run.tree.node(winner->node) : run.tree.best();
  if (best)
    program = evaluate::check(best->proposal.program, setting_of(run, *reached.opened, *reached.imported)).program;
  for (const ir::Kernel& kernel : program ? program->kernels : reached.planned->scheduled->kernels) {
    run.report.kernels.push_back({kernel.name, kernel.family});
  }
}

// Of the best candidate: measured by kernel where it was, else predicted.
Status add_time_by_kernel(Run& run, const Finalist* winner) {
  const search::Node* best = winner ? &run.tree.node(winner->node) : run.tree.best();
  if (!best || !best->measurement) return success();
  if (Result<std::vector<Finding>> found = findings_of_record(best->measurement->record); found.ok())
    run.report.findings = std::move(*found);
  else  // advice that cannot be read costs no result
    run.progress.message("the findings on the best candidate cannot be read: " + found.error().message);
  const bool measured = best->measurement->state == TrialState::kVerified;
  const std::optional<Seconds> whole = measured ? std::optional(best->measurement->time) : std::nullopt;
  SOLSTICE_TRY(run.report.time_by_kernel, kernel_table_of(best->measurement->record, whole));
  if (!run.report.time_by_kernel || !winner || winner->by_kernel.empty() || !winner->span) return success();
  SOLSTICE_TRY(run.report.time_by_kernel, kernel_table_of(best->measurement->record, std::nullopt));
  add_measured(*run.report.time_by_kernel, winner->by_kernel, winner->span->median);
  return success();
}

Status add_launches(Run& run, const Measurable* measurable, const Finalist* winner) {
  if (!winner) return success();
  SOLSTICE_TRY(const rt::LoadedPlan loaded, rt::load_plan(measurable->builds->plan_of(winner->node)));
  for (const Step& step : loaded.plan.steps)
    run.report.launches += step.kind == StepKind::kLaunch && step.phase == Phase::kLaunch;
  return success();
}

void add_clocks(Run& run, const Finalist* winner) {
  if (!winner) return;
  const Timing& timing = *winner->timing;
  std::string reasons;
  for (const std::string& reason : timing.throttle) reasons += (reasons.empty() ? "" : ", ") + reason;
  const auto add = [&](const char* what, double TimingRound::*mhz) {
    const Hertz mean = run::mean_clock(timing, mhz);
    run.report.clocks[what] = mean.value > 0 ? fmt::format("{:.0f} MHz", mean.value * 1e-6) : "not known";
  };
  add("SM, candidate", &TimingRound::candidate_mhz);
  add("SM, original", &TimingRound::baseline_mhz);
  run.report.clocks["throttle reasons"] = reasons.empty() ? "none" : reasons;
}

const Bound* bound_named(const Report& report, std::string_view name) {
  for (const Bound& bound : report.bounds) {
    if (bound.name == name) return &bound;
  }
  return nullptr;
}

// The best time against the rungs of the ladder, and the resource behind the nearest.
void add_explanation(Run& run, const ReachedStages& reached, const Finalist* winner) {
  const search::Node* best = winner ? &run.tree.node(winner->node) : run.tree.best();
  if (!best) return;
  run.report.program = best->proposal.program;
  const Bound* practical = bound_named(run.report, "practical");
  if (!practical || practical->time.value <= 0 || !reached.bounds || reached.bounds->io().value <= 0) return;
  const Seconds time = winner ? winner->timing->candidate : best->measurement->time;
  const BoundTerm* largest = nullptr;
  for (const BoundTerm& term : practical->terms) {
    if (!largest || term.time > largest->time) largest = &term;
  }
  run.report.bound_by =
      fmt::format("{}{} is {:.3g}x the practical bound of {} and {:.3g}x the io bound of {}{}",
                  reached.opened->gpu ? "" : "a predicted ", time_text(time), time / practical->time,
                  time_text(practical->time), time / reached.bounds->io(), time_text(reached.bounds->io()),
                  largest ? fmt::format("; the largest part of the practical bound is {}", largest->name) : "");
}

}  // namespace

Status describe_search(Run& run, const ReachedStages& reached) {
  static const Chosen kNone;
  const Chosen& chosen = reached.chosen ? *reached.chosen : kNone;
  add_candidates(run, chosen.finalists);
  if (run.tree.trials() > 0) run.report.trials = search::counts_of(run.tree);
  warn_of_traces(run);
  run.report.verdict = verdict_of(chosen.finalists, chosen.winner);
  add_kernels(run, reached, chosen.winner);
  SOLSTICE_CHECK(add_time_by_kernel(run, chosen.winner));
  add_clocks(run, chosen.winner);
  add_explanation(run, reached, chosen.winner);
  return add_launches(run, reached.measurable, chosen.winner);
}

}  // namespace solstice::flow
