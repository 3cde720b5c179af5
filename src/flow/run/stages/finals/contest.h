// Candidates and the original timed in turn: A B C, original, original, C B A, round after round, all in processes that
// stay, with the same number of copies of their tensors. What is held and timed comes in as callables.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/timing.h"
#include "record/verdict.h"
#include "run/abba.h"

namespace solstice::flow {

// One that takes part. Its outcome is a timing, a refusal, or neither: memory had no room for it beside the others and
// the original, and it may be timed later.
struct Contender {
  std::string name;                           // "trial 3"
  std::function<Result<int>(int)> slots_for;  // copies that each of so many processes may have
  std::function<Result<Verdict>(int)> hold;   // verified once more with so many copies, in a process that stays
  std::function<void()> let_go;               // of that process
  run::TimeBlock time;
  std::optional<Timing> timing;
  std::string refused;  // why it is out
};

// At least one of `all` is timed or refused. Those with a timing and no refusal are still held afterwards. Errors:
// judging itself failed, or the original cannot be timed.
Status hold_contest(std::vector<Contender>& all, int most_slots, const run::TimeBlock& original,
                    const run::ReadClocks& clocks, const run::AbbaOptions& options);

}  // namespace solstice::flow
