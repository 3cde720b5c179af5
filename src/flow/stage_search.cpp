#include <fmt/format.h>

#include <algorithm>

#include "base/interrupt.h"
#include "base/time_text.h"
#include "flow/resume.h"
#include "flow/session.h"

namespace solstice::flow {
namespace {

// Modules are compiled side by side; what the cache had took no time.
Seconds slowest_compile(const Json& modules) {
  double slowest = 0;
  for (size_t i = 0; i < modules.size(); ++i) {
    const Json& module = modules.at(i);
    if (!module.at("cached").as_bool()) slowest = std::max(slowest, module.at("seconds").as_double());
  }
  return Seconds(slowest);
}

TrialRecord record_of(const Session& state, const search::Node& node) {
  const search::Measurement& m = *node.measurement;
  TrialRecord trial;
  trial.run = state.report.run;
  trial.number = node.id;
  trial.origin = node.proposal.origin;
  trial.program = node.proposal.program;
  trial.what = node.proposal.reason;
  trial.state = m.state;
  trial.message = m.detail;
  trial.predicted = node.proposal.predicted;
  if (state.gpu && node.usable()) trial.measured = m.time;
  trial.verdict = m.record.at("verdict");
  trial.settings = node.proposal.settings;
  trial.equations = node.proposal.equations;
  trial.cut = node.proposal.cut;
  trial.meaning = m.record.at("meaning").as_string();
  trial.timing = m.record.at("seconds");
  trial.cost = m.record.at("modules");
  trial.compile_time = slowest_compile(trial.cost);
  trial.started = utc_now();
  return trial;
}

// Settings of one plan are seldom more than this apart: a plan whose best is so much slower than the original is no win.
constexpr double kLost = 3;

std::string verdict_text(const search::Measurement& m) { return enum_names(m.state)[static_cast<size_t>(m.state)]; }

}  // namespace

Status search_candidates(Session& state) {
  const std::string detail = fmt::format("at most {} trials in {}", state.options.trials, time_text(state.options.budget));
  return stage(state, "search", detail, [&]() -> Result<std::string> {
    SOLSTICE_TRY(const std::unique_ptr<search::Policy> policy, search::make_policy(state.policy, state.options.seed));
    SOLSTICE_CHECK(restore_tree(state));
    const Deadline deadline(state.options.budget);
    search::Observer observer;
    observer.finished = [&](const search::Tree&, const search::Node& node) {
      TrialNews news{node.id, node.proposal.reason, verdict_text(*node.measurement), std::nullopt, !state.gpu};
      if (node.usable()) news.time = node.measurement->time;
      Standing standing = state.standing();
      standing.left = deadline.left();
      state.progress.trial_finished(news, standing);
    };
    observer.recorded = [&](const search::Tree& tree, size_t number) -> Status {
      const search::Event& event = tree.events()[number];
      if (event.kind != search::Event::Kind::kMeasured) return keep_event(state, number, nullptr);
      const TrialRecord trial = record_of(state, tree.node(event.node));
      return keep_event(state, number, &trial);
    };
    observer.skipped = [&](const search::Proposal&) { ++state.report.trials_skipped; };
    search::Budget budget;
    budget.time = state.options.budget;
    budget.trials = state.options.trials;
    if (state.options.eps > 0) budget.bound = state.bound_practical;
    budget.near = 1 + state.options.eps;
    budget.least = 4;
    budget.patience = state.options.window;
    if (state.options.window > 0) budget.lost = (state.eager + state.eager_dispatch) * kLost;
    budget.hopeless = state.gpu ? 1.10 : 0;  // where times are predictions, every one is shown
    const int lookahead = state.gpu ? 6 : 2;
    SOLSTICE_TRY(state.stop, search::run(state.tree, {*policy, *state.expert, *state.device}, budget, lookahead, observer,
                                         [] { return interrupted(); }));
    const search::Node* best = state.tree.best();
    const int trials = state.standing().trials;
    const std::string skipped =
        state.report.trials_skipped ? fmt::format(", {} skipped: no gain expected", state.report.trials_skipped) : "";
    const std::string why = enum_names(state.stop)[static_cast<size_t>(state.stop)];
    if (!best) return fmt::format("{} trials, none usable ({}){}", trials, why, skipped);
    return fmt::format("{} trials, best {} ({}){}", trials, time_text(best->measurement->time), why, skipped);
  });
}

}  // namespace solstice::flow
