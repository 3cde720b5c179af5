// The end of the search: the fastest trials are verified in full, timed in turn against the original, and the best of
// them wins.
#include "flow/run/stages/next_finalists.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/time_text.h"
#include "flow/run/stages/conclusion.h"
#include "flow/run/state/run.h"
#include "flow/run/stages/finalists_timing.h"
#include "flow/run/stages/full_verification.h"

namespace solstice::flow {
namespace {

// No noise makes a win of a candidate that takes so much longer than the original, its dispatch included, which the
// headline may count.
Seconds most_time(const Session& state) {
  constexpr double kHopeless = 1.25;
  return (state.eager + state.eager_dispatch) * kHopeless;
}

std::vector<int> refused_of(const Session& state) {
  std::vector<int> out;
  for (const Finalist& finalist : state.finalists) out.push_back(finalist.node);
  return out;
}

// The judge's L2 is cold. What is faster than its inputs can arrive has not done the work.
void void_impossible(Session& state) {
  for (Finalist& finalist : state.finalists) {
    if (!finalist.refused.empty() || !finalist.timing || !state.sol) continue;
    const std::string why = sol::violation(*state.sol, finalist.timing->candidate, sol::Cache::kCold);
    if (!why.empty()) refuse(state, finalist, fmt::format("trial {}: {}", finalist.node, why));
  }
}

// Those that were timed, fastest first.
std::vector<Finalist*> ranked(Session& state) {
  std::vector<Finalist*> out;
  for (Finalist& finalist : state.finalists) {
    if (finalist.refused.empty() && finalist.timing) out.push_back(&finalist);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Finalist* a, const Finalist* b) { return a->timing->speedup > b->timing->speedup; });
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

// The first finalist's refusal says why; where there is none, no trial was usable (that none was run, conclude_search
// says).
std::string no_winner(Session& state) {
  const auto refused = std::find_if(state.finalists.begin(), state.finalists.end(),
                                    [](const Finalist& f) { return !f.refused.empty(); });
  state.report.outcome = RunOutcome::kNotFaster;
  state.report.reason =
      refused != state.finalists.end() ? refused->refused : "no candidate was verified" + first_refusal(state.tree);
  return state.report.reason;
}

// The first of the group that passes; the others are looked at when they are timed.
Result<Finalist*> first_verified(Session& state, size_t from) {
  for (size_t i = from; i < state.finalists.size(); ++i) {
    SOLSTICE_CHECK(verify_fully(state, state.finalists[i]));
    if (!state.finalists[i].refused.empty()) continue;
    // Near the bound no other one can be much faster.
    if (state.stop == search::Stop::kNearBound) state.finalists.resize(i + 1);
    return &state.finalists[i];
  }
  return nullptr;
}

Status verify_favourite(Session& state) {
  return stage(state, "verify", "all value families", [&]() -> Result<std::string> {
    while (true) {
      const std::vector<int> group = next_finalists(state.tree, refused_of(state), most_time(state));
      if (group.empty()) return no_winner(state);
      const size_t from = state.finalists.size();
      for (const int node : group) state.finalists.emplace_back().node = node;
      SOLSTICE_TRY(const Finalist* const passed, first_verified(state, from));
      if (passed) return fmt::format("trial {} passed {}", passed->node, cases_text(*passed->verdict));
    }
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
    const std::string of =
        state.finalists.size() == 1 ? "" : fmt::format(", the fastest of {} finalists", state.finalists.size());
    return fmt::format("trial {}{}, {:.3g}x [{:.3g}, {:.3g}]", state.winner->node, of, timing.speedup,
                       timing.interval999[0], timing.interval999[1]);
  });
}

// Such a candidate is not measured further.
bool hopeless(Session& state) {
  const search::Node* best = state.tree.best();
  if (!best || state.eager.value <= 0) return false;
  const Seconds time = best->measurement->time;
  if (time < most_time(state)) return false;
  state.report.outcome = RunOutcome::kNotFaster;
  state.report.reason =
      fmt::format("the best candidate, trial {}, took {} where the original takes {}: {:.3g}x, not measured further",
                  best->id, time_text(time), time_text(state.eager), state.eager / time);
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
