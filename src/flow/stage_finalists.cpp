// The end of the search: the fastest trials are verified in full, timed in turn against the original, and the best of
// them wins.
#include <fmt/format.h>

#include <algorithm>

#include "base/time_text.h"
#include "flow/conclusion.h"
#include "flow/finalists_timing.h"
#include "flow/full_verification.h"
#include "flow/session.h"

namespace solstice::flow {
namespace {

constexpr size_t kFinalists = 3;
constexpr double kWithin = 1.05;  // of the fastest: beyond this a trial's few repetitions decide well enough

std::vector<Finalist> finalists_of(const search::Tree& tree) {
  std::vector<const search::Node*> usable;
  for (const search::Node& node : tree.nodes()) {
    if (node.usable()) usable.push_back(&node);
  }
  std::stable_sort(usable.begin(), usable.end(), [](const auto* a, const auto* b) { return a->measurement->time < b->measurement->time; });
  std::vector<Finalist> out;
  for (const search::Node* node : usable) {
    if (out.size() == kFinalists || node->measurement->time > usable[0]->measurement->time * kWithin) break;
    out.emplace_back().node = node->id;
  }
  return out;
}

// The judge's L2 is cold. What is faster than its inputs can arrive has not done the work.
void void_impossible(Session& state) {
  for (Finalist& finalist : state.finalists) {
    if (!finalist.refused.empty() || !finalist.timing || !state.sol) continue;
    const std::string why = sol::violation(*state.sol, finalist.timing->candidate, sol::Cache::kCold);
    if (!why.empty()) refuse(state, finalist, fmt::format("trial {}: {}", finalist.node + 1, why));
  }
}

// Those that were timed, fastest first.
std::vector<Finalist*> ranked(Session& state) {
  std::vector<Finalist*> out;
  for (Finalist& finalist : state.finalists) {
    if (finalist.refused.empty() && finalist.timing) out.push_back(&finalist);
  }
  std::stable_sort(out.begin(), out.end(), [](const Finalist* a, const Finalist* b) { return a->timing->speedup > b->timing->speedup; });
  return out;
}

std::vector<Finalist*> untimed(Session& state) {
  std::vector<Finalist*> out;
  for (Finalist& finalist : state.finalists) {
    if (finalist.refused.empty() && !finalist.timing) out.push_back(&finalist);
  }
  return out;
}

Status pick(Session& state) {
  for (Finalist* finalist : ranked(state)) {
    SOLSTICE_CHECK(verify_fully(state, *finalist));
    if (!finalist->refused.empty()) continue;
    state.winner = finalist;
    state.report.errors = finalist->errors;
    break;
  }
  return success();
}

// The first finalist's refusal says why; where there is none, no trial was usable (that none was run, conclude_search says).
std::string no_winner(Session& state) {
  const auto refused = std::find_if(state.finalists.begin(), state.finalists.end(), [](const Finalist& f) { return !f.refused.empty(); });
  state.report.outcome = RunOutcome::kNotFaster;
  state.report.reason = refused != state.finalists.end() ? refused->refused : "no candidate was verified" + first_refusal(state.tree);
  return state.report.reason;
}

Status verify_favourite(Session& state) {
  return stage(state, "verify", "all value families", [&]() -> Result<std::string> {
    state.finalists = finalists_of(state.tree);
    for (size_t i = 0; i < state.finalists.size(); ++i) {
      Finalist& finalist = state.finalists[i];
      SOLSTICE_CHECK(verify_fully(state, finalist));
      if (!finalist.refused.empty()) continue;
      // Near the bound no other one can be much faster.
      if (state.stop == search::Stop::kNearBound) state.finalists.resize(i + 1);
      return fmt::format("trial {} passed {}", state.finalists[i].node + 1, cases_text(*state.finalists[i].verdict));
    }
    return no_winner(state);
  });
}

Status time_finalists(Session& state) {
  return stage(state, "finalists", "timed in turn against the original", [&]() -> Result<std::string> {
    for (auto open = untimed(state); !state.winner && !open.empty(); open = untimed(state)) {
      SOLSTICE_CHECK(time_in_turn(state, open));
      void_impossible(state);
      SOLSTICE_CHECK(pick(state));
    }
    if (!state.winner) return no_winner(state);
    const Timing& timing = *state.winner->timing;
    const std::string of = state.finalists.size() == 1 ? "" : fmt::format(", the fastest of {} finalists", state.finalists.size());
    return fmt::format("trial {}{}, {:.3g}x [{:.3g}, {:.3g}]", state.winner->node + 1, of, timing.speedup, timing.interval999[0],
                       timing.interval999[1]);
  });
}

// No noise makes a win of a candidate that took 1.5 times as long as the original, its dispatch included, which the headline
// may count: such a candidate is not measured further.
bool hopeless(Session& state) {
  constexpr double kHopeless = 1.5;
  const search::Node* best = state.tree.best();
  if (!best || state.eager.value <= 0) return false;
  const Seconds time = best->measurement->time, original = state.eager + state.eager_dispatch;
  if (time < original * kHopeless) return false;
  state.report.outcome = RunOutcome::kNotFaster;
  state.report.reason = fmt::format("the best candidate, trial {}, took {} where the original takes {}: {:.3g}x, not measured further",
                                    best->id + 1, time_text(time), time_text(state.eager), state.eager / time);
  state.progress.message(state.report.reason);
  return true;
}

}  // namespace

Status choose_winner(Session& state) {
  if (!state.gpu || hopeless(state)) return success();
  SOLSTICE_CHECK(verify_favourite(state));
  if (state.report.outcome != RunOutcome::kNone) return success();
  return time_finalists(state);
}

}  // namespace solstice::flow
