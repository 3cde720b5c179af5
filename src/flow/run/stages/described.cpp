#include "flow/run/stages/described.h"

#include <fmt/format.h>

#include "base/time_text.h"
#include "flow/run/report/measured.h"
#include "flow/run/stages/full_verification.h"
#include "flow/run/state/trial_of.h"
#include "rt/load.h"
#include "run/timing_stats.h"

namespace solstice::flow {
namespace {

// A finalist's time is that of the final rounds, any other's that of its trial.
Measured time_of(const Session& state, const search::Node& node) {
  for (const Finalist& finalist : state.finalists) {
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

void add_candidates(Session& state) {
  for (const search::Node& node : state.tree.nodes()) {
    if (node.id == 0 || !node.measurement) continue;
    CandidateRow row;
    row.trial = node.id;
    row.what = node.proposal.reason;
    row.state = enum_name(node.measurement->state);
    row.predicted = prediction_of(node);
    row.note = node.measurement->detail;
    row.took = node.measurement->cost;
    row.meaning = node.measurement->record.at("meaning").as_string();
    if (node.usable() && node.measurement->state == TrialState::kVerified) row.time = time_of(state, node);
    for (const Finalist& finalist : state.finalists) {
      if (finalist.node == node.id) row.timing = finalist.timing;
    }
    state.report.candidates.push_back(std::move(row));
  }
}

// Trials that should have times by kernel and have none.
void warn_of_traces(Session& state) {
  int number = 0;
  std::string why;
  for (const search::Node& node : state.tree.nodes()) {
    if (node.id == 0 || !node.usable()) continue;
    const std::string note = node.measurement->record.at("trace").at("note").as_string();
    if (note.empty()) continue;
    ++number;
    if (why.empty()) why = note;
  }
  if (number == 0) return;
  state.report.warnings.push_back(
      fmt::format("{} {} no times by kernel: {}", number, number == 1 ? "trial has" : "trials have", why));
}

std::string verdict_of(const Session& state) {
  if (state.winner) return "passed " + cases_text(*state.winner->verdict);
  for (const Finalist& finalist : state.finalists) {
    if (finalist.verdict && !finalist.verdict->passed()) return finalist.refused;
  }
  return "";
}

// Of what ran, else of the plan.
void add_kernels(Session& state) {
  if (!state.scheduled) return;
  std::optional<ir::Program> program;
  const search::Node* best = state.winner ? &state.tree.node(state.winner->node) : state.tree.best();
  if (best) program = evaluate::check(best->proposal.program, state.setting()).program;
  for (const ir::Kernel& kernel : program ? program->kernels : state.scheduled->kernels) {
    state.report.kernels.push_back({kernel.name, kernel.family});
  }
}

Status add_launches(Session& state) {
  if (!state.winner) return success();
  SOLSTICE_TRY(const rt::LoadedPlan loaded, rt::load_plan(state.builds->plan_of(state.winner->node)));
  for (const Step& step : loaded.plan.steps)
    state.report.launches += step.kind == StepKind::kLaunch && step.phase == Phase::kLaunch;
  return success();
}

void add_clocks(Session& state) {
  if (!state.winner) return;
  const Timing& timing = *state.winner->timing;
  std::string reasons;
  for (const std::string& reason : timing.throttle) reasons += (reasons.empty() ? "" : ", ") + reason;
  const auto add = [&](const char* what, double TimingRound::*mhz) {
    const Hertz mean = run::mean_clock(timing, mhz);
    state.report.clocks[what] = mean.value > 0 ? fmt::format("{:.0f} MHz", mean.value * 1e-6) : "not known";
  };
  add("SM, candidate", &TimingRound::candidate_mhz);
  add("SM, original", &TimingRound::baseline_mhz);
  state.report.clocks["throttle reasons"] = reasons.empty() ? "none" : reasons;
}

const Bound* bound_named(const Report& report, std::string_view name) {
  for (const Bound& bound : report.bounds) {
    if (bound.name == name) return &bound;
  }
  return nullptr;
}

// The best time against the rungs of the ladder, and the resource behind the nearest.
void add_explanation(Session& state) {
  const search::Node* best = state.winner ? &state.tree.node(state.winner->node) : state.tree.best();
  if (!best) return;
  state.report.program = best->proposal.program;
  const Bound* practical = bound_named(state.report, "practical");
  if (!practical || practical->time.value <= 0 || state.bound_io.value <= 0) return;
  const Seconds time = state.winner ? state.winner->timing->candidate : best->measurement->time;
  const BoundTerm* largest = nullptr;
  for (const BoundTerm& term : practical->terms) {
    if (!largest || term.time > largest->time) largest = &term;
  }
  state.report.bound_by =
      fmt::format("{}{} is {:.3g}x the practical bound of {} and {:.3g}x the io bound of {}{}",
                  state.gpu ? "" : "a predicted ", time_text(time), time / practical->time, time_text(practical->time),
                  time / state.bound_io, time_text(state.bound_io),
                  largest ? fmt::format("; the largest part of the practical bound is {}", largest->name) : "");
}

}  // namespace

Status describe_search(Session& state) {
  add_candidates(state);
  warn_of_traces(state);
  state.report.verdict = verdict_of(state);
  add_kernels(state);
  add_clocks(state);
  add_explanation(state);
  return add_launches(state);
}

}  // namespace solstice::flow
