#include "flow/bench/shared.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "base/counted.h"
#include "base/process/interrupt.h"
#include "flow/bench/concluded.h"
#include "flow/bench/row.h"
#include "flow/bench/slots.h"

namespace solstice::flow {
namespace {

search::Spent spent_of(const BenchTurns& had) { return {double(had.trials), had.spent.value, 0}; }

// Its trials one by one, so that what a trial costs is told as it was while they were made.
void tell_again(search::Turns& turns, size_t place, const BenchTurns& had) {
  for (int i = 0; i < had.trials; ++i) turns.landed(place, {1, had.spent.value / had.trials, 0}, {});
  turns.close(place);
}

class SharedBench {
 public:
  SharedBench(const BenchOptions& options, BenchWorker& worker, Progress& progress, BenchRows& rows)
      : options_(options), worker_(worker), progress_(progress), rows_(rows), slots_(options, worker, progress, rows) {}

  Status run() {
    SOLSTICE_CHECK(slots_.open_all());
    share_ = search::share_of(options_.shared->total, slots_.searches());
    search::Turns turns(options_.shared->schedule, options_.shared->total, search::Currency::kSeconds);
    for (const BenchTurns& had : slots_.kept()) tell_again(turns, turns.add(Seconds(0), Seconds(0)), had);
    for (const BenchTurns& had : slots_.given_up()) turns.spend(spent_of(had));
    for (BenchSlot& slot : slots_.all()) {
      if (!slot.search && !slot.apart && !slot.cut) continue;
      slot.place = turns.add(Seconds(0), Seconds(0));
      tell_again(turns, slot.place, slot.given_up.value_or(BenchTurns()));
    }
    SOLSTICE_CHECK(take_turns(turns));
    for (BenchSlot& slot : slots_.all()) {
      if (!slot.apart && !slot.cut) SOLSTICE_CHECK(conclude(slot));
    }
    return run_apart(turns);
  }

 private:
  // All searches are closed then, unless they were interrupted.
  Status take_turns(search::Turns& turns) {
    SOLSTICE_CHECK(join(turns));
    const BenchSlot* last = nullptr;
    while (!interrupted()) {
      const std::optional<search::Turn> turn = turns.next();
      if (!turn) break;
      BenchSlot& slot = *places_.at(turn->problem);
      if (&slot != last) slots_.say(slot, search::text_of(*turn, search::Currency::kSeconds));
      last = &slot;
      SOLSTICE_CHECK(step(slot, turns));
    }
    for (BenchSlot& slot : slots_.all()) {
      if (slot.search && !interrupted()) SOLSTICE_CHECK(close(slot, search::Stop::kShared, turns));
    }
    return success();
  }

  Status join(search::Turns& turns) {
    places_.clear();
    turns.reserve(static_cast<int>(slots_.waiting()));
    for (BenchSlot& slot : slots_.all()) {
      if (!slot.search) continue;
      turns.begin_anew(slot.place, slot.search->original(), slot.search->bound());
      places_[slot.place] = &slot;
      SOLSTICE_CHECK(tell(slot, turns));
      if (const auto why = lacking_room(slot.search->tree(), 0); why && slots_.others_open(slot)) {
        SOLSTICE_CHECK(begin_anew_apart(slot, *why, turns));  // it was stopped before that was seen
        continue;
      }
      if (const auto ended = rows_.ended(*slot.problem)) SOLSTICE_CHECK(close(slot, *ended, turns));
    }
    return success();
  }

  Status step(BenchSlot& slot, search::Turns& turns) {
    const Seconds began = monotonic_now();
    const std::optional<search::Stop> stop = slot.search->step();
    slot.took += monotonic_now() - began;
    const size_t told = slot.told;
    SOLSTICE_CHECK(tell(slot, turns));
    if (interrupted()) return success();
    if (!slot.search->ready()) return fail_in_turn(slot, turns);
    if (const auto why = lacking_room(slot.search->tree(), told); why && slots_.others_open(slot))
      return begin_anew_apart(slot, *why, turns);
    if (!stop) return success();
    SOLSTICE_CHECK(rows_.end(*slot.problem, *stop));
    return close(slot, *stop, turns);
  }

  // Frees its GPU memory for the searches of the others, and at the end for the problem whose row is made.
  Status close(BenchSlot& slot, search::Stop stop, search::Turns& turns) {
    const Seconds began = monotonic_now();
    slot.stop = stop;
    SOLSTICE_TRY(slot.turns, turns_of(*slot.search, share_, stop));
    turns.close(slot.place);
    slot.search.reset();
    slot.took += monotonic_now() - began;
    return success();
  }

  Status fail_in_turn(BenchSlot& slot, search::Turns& turns) {
    SOLSTICE_TRY(slot.turns, turns_of(*slot.search, share_, search::Stop::kInterrupted));
    const BenchTurns had = *slot.turns;
    turns.close(slot.place);
    std::map<size_t, BenchTurns> open;  // turns of the other problems
    for (const auto& [at, other] : places_) {
      if (other == &slot || !other->search) continue;
      SOLSTICE_TRY(open[at], turns_of(*other->search, share_, search::Stop::kInterrupted));
    }
    SOLSTICE_CHECK(slots_.take_failure(slot));
    for (const auto& [at, before] : open) {
      BenchSlot& other = *places_[at];
      if (other.search) continue;
      other.turns = before;  // it could not be opened again
      turns.close(at);
    }
    return slot.apart ? set_aside(slot, had, turns) : success();
  }

  // A trial that others took the room of is no result, and what would follow it in the tree is not what a search alone
  // does.
  Status begin_anew_apart(BenchSlot& slot, const std::string& why, search::Turns& turns) {
    SOLSTICE_TRY(const BenchTurns had, turns_of(*slot.search, share_, search::Stop::kInterrupted));
    slots_.set_apart(slot, why);
    return set_aside(slot, had, turns);
  }

  // Its run is given up, and of what is left the next one has a share for itself. What it had so far is spent.
  Status set_aside(const BenchSlot& slot, const BenchTurns& had, search::Turns& turns) {
    turns.close(slot.place);
    turns.reserve(static_cast<int>(slots_.waiting()));
    return rows_.set_apart(*slot.problem, had);
  }

  // A search that was stopped by Ctrl-C has no row; its run stays.
  Status conclude(BenchSlot& slot) {
    if (interrupted()) return success();
    if (slot.turns) slots_.say(slot, "had " + counted(slot.turns->trials, "trial"));
    ConcludingWorker worker = slot.outcome ? ConcludingWorker(worker_, std::move(*slot.outcome))
                                           : ConcludingWorker(worker_, rows_.run_of(*slot.problem), slot.stop);
    SOLSTICE_TRY(BenchRow row,
                 run_problem(options_, *slot.problem, worker, progress_).context("bench of " + slot.problem->id));
    if (interrupted()) return success();
    row.took += slot.took;
    row.variants[0].took += slot.took;
    row.variants[0].turns = slot.turns;
    return rows_.add(std::move(row));
  }

  // Nobody else is there now: what does not fit any more is told in its row.
  Status run_apart(search::Turns& turns) {
    for (BenchSlot& slot : slots_.all()) {
      if (slot.cut && !interrupted()) SOLSTICE_CHECK(run_in_parts(slot, turns));
      if (!slot.apart || interrupted()) continue;
      slot.apart = false;
      SOLSTICE_CHECK(slots_.open(slot));
      SOLSTICE_CHECK(take_turns(turns));
      SOLSTICE_CHECK(conclude(slot));
    }
    return success();
  }

  // With the fixed split's share, of which it spends what its stages used.
  Status run_in_parts(BenchSlot& slot, search::Turns& turns) {
    slot.cut = false;
    BenchOptions own = options_;
    SearchOptions& search = own.each.search;
    if (share_.trials) search.trials = std::min(search.trials, *share_.trials);
    if (share_.seconds) search.budget = std::min(search.budget, Seconds(*share_.seconds));
    SOLSTICE_TRY(BenchRow row,
                 run_problem(own, *slot.problem, worker_, progress_).context("bench of " + slot.problem->id));
    if (interrupted()) return success();
    BenchVariant& made = row.variants[0];
    if (made.parts) {
      made.turns = BenchTurns{made.parts->trials, made.parts->searched, 0, {}, "shared"};
      turns.spend(spent_of(*made.turns));
    }
    turns.reserve(static_cast<int>(slots_.waiting()));
    row.took += slot.took;
    return rows_.add(std::move(row));
  }

  const BenchOptions& options_;
  BenchWorker& worker_;
  Progress& progress_;
  BenchRows& rows_;
  search::TotalBudget share_;
  BenchSlots slots_;
  std::map<size_t, BenchSlot*> places_;  // whose each place in the schedule is
};

}  // namespace

Status run_shared(const BenchOptions& options, BenchWorker& worker, Progress& progress, BenchRows& rows) {
  return SharedBench(options, worker, progress, rows).run();
}

}  // namespace solstice::flow
