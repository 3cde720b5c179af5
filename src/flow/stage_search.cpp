#include <fmt/format.h>

#include <algorithm>

#include "base/interrupt.h"
#include "base/time_text.h"
#include "flow/resume.h"
#include "flow/session.h"
#include "flow/trial_of.h"

namespace solstice::flow {
namespace {

// Settings of one plan are seldom more than this apart: a plan whose best is so much slower than the original is no win.
constexpr double kLost = 3;

search::Budget budget_of(const Session& state) {
  search::Budget out;
  out.time = state.options.budget;
  out.trials = state.options.trials;
  if (state.options.eps > 0) out.bound = state.bound_practical;
  out.near = 1 + state.options.eps;
  out.least = 4;
  out.patience = state.options.window;
  if (state.options.window > 0) out.lost = (state.eager + state.eager_dispatch) * kLost;
  out.hopeless = state.gpu ? 1.10 : 0;  // where times are predictions, every one is shown
  return out;
}

// Compiling overlaps measuring.
int lookahead_of(const Session& state) { return state.gpu ? 6 : 2; }

std::string verdict_text(const search::Measurement& m) { return enum_names(m.state)[static_cast<size_t>(m.state)]; }

search::Observer observer_of(Session& state, const Deadline& deadline) {
  search::Observer out;
  out.finished = [&state, &deadline](const search::Tree&, const search::Node& node) {
    TrialNews news{node.id, node.proposal.reason, verdict_text(*node.measurement), std::nullopt, !state.gpu};
    if (node.usable()) news.time = node.measurement->time;
    Standing standing = state.standing();
    standing.left = deadline.left();
    state.progress.trial_finished(news, standing);
  };
  out.recorded = [&state](const search::Tree& tree, size_t number) -> Status {
    const search::Event& event = tree.events()[number];
    if (event.kind != search::Event::Kind::kMeasured) return keep_event(state, number, nullptr);
    const TrialRecord trial = trial_of(state.report.run, tree.node(event.node), state.gpu);
    return keep_event(state, number, &trial);
  };
  out.skipped = [&state](const search::Proposal&) { ++state.report.trials_skipped; };
  if (state.agent) out.refused = [&state](const Error& error) { state.agent_failed = error; };
  return out;
}

// The expert's first trials, several at once; then a language model's, each of which knows what all before it came to.
Result<search::Stop> search_with_agent(Session& state, search::Policy& policy, const search::Observer& observer, const Deadline& deadline) {
  search::Budget budget = budget_of(state);
  budget.trials = std::min(budget.trials, *state.agent_choice.terms.expert);
  SOLSTICE_TRY(const search::Stop stop, search::run(state.tree, {policy, *state.expert, *state.device}, budget, lookahead_of(state),
                                                    observer, [] { return interrupted(); }));
  const bool over = stop == search::Stop::kTime || stop == search::Stop::kInterrupted || stop == search::Stop::kNearBound;
  if (over || state.tree.trials() >= state.options.trials) return stop;
  SOLSTICE_CHECK(open_nodes_again(state));
  budget.trials = state.options.trials;
  budget.time = deadline.left();
  budget.finish = true;
  budget.lost = Seconds(0);  // who writes whole programs may still find another way
  return search::run(state.tree, {policy, state.agent->proposer(), *state.device}, budget, 1, observer, [] { return interrupted(); });
}

}  // namespace

Status search_candidates(Session& state) {
  const std::string with = state.agent ? ", " + state.agent->title() : "";
  const std::string detail = fmt::format("at most {} trials in {}{}", state.options.trials, time_text(state.options.budget), with);
  return stage(state, "search", detail, [&]() -> Result<std::string> {
    SOLSTICE_TRY(const std::unique_ptr<search::Policy> policy, search::make_policy(state.policy, state.options.seed));
    SOLSTICE_CHECK(restore_tree(state));
    const Deadline deadline(state.options.budget);
    const search::Observer observer = observer_of(state, deadline);
    if (state.agent) {
      SOLSTICE_TRY(state.stop, search_with_agent(state, *policy, observer, deadline));
    } else {
      SOLSTICE_TRY(state.stop, search::run(state.tree, {*policy, *state.expert, *state.device}, budget_of(state), lookahead_of(state),
                                           observer, [] { return interrupted(); }));
    }
    if (state.agent_failed && state.agent_failed->code != Code::interrupted) {
      const std::string why = fmt::format("{} goes no further: {}", state.agent->title(), state.agent_failed->text());
      state.progress.message(why);
      state.report.warnings.push_back(why);
    }
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
