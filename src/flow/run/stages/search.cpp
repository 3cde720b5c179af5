#include <fmt/format.h>

#include <algorithm>

#include "base/process/interrupt.h"
#include "base/time_text.h"
#include "flow/run/resume.h"
#include "flow/run/state/run.h"
#include "flow/run/state/trial_of.h"

namespace solstice::flow {
namespace {

// Settings of one plan are seldom more than this apart: a plan whose best is so much slower than the original is no
// win.
constexpr double kLost = 3;
constexpr Seconds kNoEnd{1e9};

}  // namespace

search::Budget expert_budget(const Session& state) {
  search::Budget out;
  out.time = state.options.in_turns ? kNoEnd : state.options.budget;
  out.trials = state.options.trials;
  out.bound = state.bound_practical;
  out.rule.least = 4;
  if (state.options.eps > 0) out.rule.eps = state.options.eps;
  if (state.options.roi > 0) out.rule.roi = state.options.roi;
  if (state.options.window > 0) out.rule.window = state.options.window;
  if (state.options.window > 0)
    out.lost = (state.eager + state.eager_dispatch) * kLost;  // 0, never, where it is timed elsewhere
  out.measured = state.gpu || state.tree.measured();
  out.hopeless = out.measured ? 1.10 : 0;  // where times are predictions, every one is shown
  if (!state.agent) out.since = taken_back_at(state.tree);
  return out;
}

search::Budget agent_budget(const Session& state) {
  search::Budget out = expert_budget(state);
  out.finish = true;
  out.lost = Seconds(0);  // who writes whole programs may still find another way
  out.since = model_leads_since(state.tree, state.resumed ? state.resumed->run.options : Json());
  return out;
}

namespace {

// Compiling overlaps measuring. What is chosen ahead is chosen without the results that are still to come.
int lookahead_of(const Session& state) {
  constexpr int kEach = 4, kBeside = 2;
  if (!state.gpu) return 2;
  return kBeside + kEach * (state.fleet ? state.fleet->size() : 1);
}

search::Observer observer_of(Session& state, const Deadline& deadline) {
  search::Observer out;
  out.finished = [&state, &deadline](const search::Tree&, const search::Node& node) {
    if (!node.measurement) return;  // its result does not come
    TrialNews news{node.id, node.proposal.reason, enum_name(node.measurement->state), std::nullopt, !state.gpu};
    if (node.usable()) news.time = node.measurement->time;
    Standing standing = state.standing();
    if (!state.options.in_turns) standing.left = deadline.left();
    state.progress.trial_finished(news, standing);
  };
  out.recorded = [&state](const search::Tree& tree, size_t number) -> Status {
    const search::Event& event = tree.events()[number];
    if (event.kind != search::Event::Kind::kMeasured) return keep_event(state, number, nullptr);
    const TrialRecord trial = trial_of(state.report.run, tree.node(event.node), state.gpu);
    return keep_event(state, number, &trial);
  };
  out.skipped = [&state](const search::Proposal&) { ++state.report.trials_skipped; };
  out.failed = [&state](const Error& error) { state.policy_failed = error; };
  // A question that had to end with the search is no failure of who was asked.
  if (state.agent) {
    out.refused = [&state, &deadline](const Error& error) {
      if (error.code != Code::deadline || !deadline.passed()) state.agent_failed = error;
    };
  }
  return out;
}

search::Participants participants(Session& state) { return {*state.searching->policy, *state.expert, *state.device}; }

// The trials after the expert's, which are a language model's: each knows what all before it came to.
Result<search::Stop> go_on_with_agent(Session& state, search::Stop stop) {
  const bool over = stop == search::Stop::kTime || stop == search::Stop::kInterrupted ||
                    stop == search::Stop::kNearBound || stop == search::Stop::kPolicyFailed;
  if (over || state.tree.trials() >= state.options.trials) return stop;
  SOLSTICE_CHECK(open_nodes_again(state));
  search::Budget budget = agent_budget(state);
  budget.time = state.searching->deadline.left();
  search::Participants with = participants(state);
  SOLSTICE_TRY(stop, search::run(state.tree, {with.policy, state.agent->proposer(), with.evaluator}, budget, 1,
                                 state.searching->observer, [] { return interrupted(); }));
  return stop == search::Stop::kProposerFailed && !state.agent_failed ? search::Stop::kTime : stop;
}

Result<search::Stop> search_to_the_end(Session& state) {
  if (state.options.searched) return *state.options.searched;
  while (true) {
    SOLSTICE_TRY(const std::optional<search::Stop> stop, step_search(state));
    if (stop) return state.agent ? go_on_with_agent(state, *stop) : *stop;
  }
}

// Of its own trials.
Seconds own_time(const search::Tree& tree) {
  Seconds out{0};
  for (const search::Event& event : tree.events()) {
    if (event.node > 0 && event.measurement) out += event.measurement->cost;
  }
  return out;
}

void warn(Session& state, const std::string& why) {
  state.progress.message(why);
  state.report.warnings.push_back(why);
}

// What it came to, in a line.
std::string summary_of_search(Session& state) {
  if (state.agent_failed && state.agent_failed->code != Code::interrupted) {
    warn(state, fmt::format("{} goes no further: {}", state.agent->title(), state.agent_failed->text()));
  }
  if (state.policy_failed) {
    warn(state, fmt::format("the policy goes no further: {}; `--resume {} --policy greedy` goes on without it",
                            state.policy_failed->text(), state.report.run));
  }
  const search::Node* best = state.tree.best();
  const int trials = state.standing().trials;
  const std::string skipped =
      state.report.trials_skipped ? fmt::format(", {} skipped: no gain expected", state.report.trials_skipped) : "";
  const std::string why = enum_name(state.stop);
  if (!best) return fmt::format("{} trials, none usable ({}){}", trials, why, skipped);
  const char* predicted = best->measurement->state == TrialState::kPredicted ? "predicted " : "";
  return fmt::format("{} trials, best {}{} ({}){}", trials, predicted, time_text(best->measurement->time), why,
                     skipped);
}

}  // namespace

Status begin_search(Session& state) {
  SOLSTICE_CHECK(restore_tree(state));
  if (state.options.searched) return success();  // what was in flight is not built again
  state.searching.reset(new Searching{std::move(state.chooser), Deadline(state.options.budget), {}, {}});
  Searching& searching = *state.searching;
  searching.observer = observer_of(state, searching.deadline);
  if (!state.agent) SOLSTICE_CHECK(open_nodes_again(state));
  search::Budget budget = expert_budget(state);
  const bool over = state.agent && handed_over(state.tree);  // to the model, before the run was interrupted
  // The expert's first, several at once; where it had them, what is in flight comes in.
  if (over) budget = search::Budget{.time = budget.time, .trials = 0};
  if (state.agent) budget.trials = std::min(budget.trials, *state.agent_choice.terms.expert);
  searching.search.emplace(state.tree, participants(state), budget, over ? 1 : lookahead_of(state), searching.observer);
  return success();
}

Result<std::optional<search::Stop>> step_search(Session& state) {
  if (state.options.in_turns && own_time(state.tree) >= state.options.budget) return std::optional(search::Stop::kTime);
  return state.searching->search->step([] { return interrupted(); });
}

Status search_candidates(Session& state) {
  const std::string with = state.agent ? ", " + state.agent->title() : "";
  const std::string detail =
      fmt::format("at most {} trials in {}{}", state.options.trials, time_text(state.options.budget), with);
  const Status done =
      stage(state, "search", state.options.searched ? "took its turns" : detail, [&]() -> Result<std::string> {
        SOLSTICE_CHECK(begin_search(state));
        SOLSTICE_TRY(state.stop, search_to_the_end(state));
        return summary_of_search(state);
      });
  close_fleet(state);
  if (state.options.searched) state.report.timings["search"] = own_time(state.tree);
  return done;
}

}  // namespace solstice::flow
