#include "flow/bench_shared.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/interrupt.h"
#include "flow/bench_concluded.h"
#include "flow/bench_row.h"
#include "flow/bench_slot.h"

namespace solstice::flow {
namespace {

class SharedBench {
 public:
  SharedBench(const BenchOptions& options, BenchWorker& worker, Progress& progress, BenchRows& rows)
      : options_(options), worker_(worker), progress_(progress), rows_(rows) {}

  Status run() {
    SOLSTICE_CHECK(open_all());
    const auto apart = static_cast<size_t>(std::count_if(slots_.begin(), slots_.end(), [](const BenchSlot& s) { return s.apart; }));
    const size_t together = searches() - apart;
    share_ = search::share_of(options_.shared->total, searches());
    search::TotalBudget total = options_.shared->total;
    if (apart > 0 && total.trials) *total.trials = *share_.trials * static_cast<int>(together);
    if (apart > 0 && total.seconds) *total.seconds = *share_.seconds * static_cast<double>(together);
    search::Turns turns(options_.shared->schedule, total, search::Currency::kSeconds);
    for (const BenchTurns& had : kept_) turns.landed(turns.add(Seconds(0), Seconds(0)), {double(had.trials), had.spent.value, 0}, {});
    for (size_t i = 0; i < kept_.size(); ++i) turns.close(i);
    SOLSTICE_CHECK(take_turns(turns));
    for (BenchSlot& slot : slots_) {
      if (!slot.apart) SOLSTICE_CHECK(conclude(slot));
    }
    return run_apart();
  }

 private:
  size_t searches() const {
    const auto open = std::count_if(slots_.begin(), slots_.end(), [](const BenchSlot& s) { return s.search || s.apart; });
    return kept_.size() + static_cast<size_t>(open);
  }

  Status open_all() {
    slots_.reserve(options_.problems.size());
    for (const BenchProblem& problem : options_.problems) {
      const size_t number = static_cast<size_t>(&problem - options_.problems.data()) + 1;
      if (const BenchRow* row = rows_.known(problem)) {
        if (row->variants[0].turns) kept_.push_back(*row->variants[0].turns);
        continue;
      }
      if (interrupted()) return success();
      slots_.push_back({&problem, number, nullptr});
      SOLSTICE_CHECK(open(slots_.back()));
    }
    return success();
  }

  // Without a search in `slot.search` there is an outcome, or it waits.
  Status open(BenchSlot& slot) {
    const Seconds began = monotonic_now();
    say(slot, "is prepared");
    Result<std::unique_ptr<BenchSearch>> opened = begin(slot);
    slot.took += monotonic_now() - began;
    if (!opened.ok()) {
      if (ends_the_bench(opened.error())) return std::move(opened).error();
      slot.outcome.emplace(std::move(opened).error());
      return success();
    }
    slot.search = std::move(*opened);
    if (slot.search->ready()) return rows_.open(*slot.problem, slot.search->run());
    take_failure(slot);
    return success();
  }

  // It is over, or waits where only the others are in its way.
  void take_failure(BenchSlot& slot) {
    Result<OptimizeOutcome> outcome = slot.search->conclude();
    slot.search.reset();
    if (!outcome.ok() && outcome.error().code == Code::too_large && others_open(slot)) return set_apart(slot, outcome.error().message);
    slot.outcome.emplace(std::move(outcome));
  }

  bool others_open(const BenchSlot& slot) const {
    return std::any_of(slots_.begin(), slots_.end(), [&](const BenchSlot& s) { return s.search && &s != &slot; });
  }

  void set_apart(BenchSlot& slot, const std::string& why) {
    const Seconds took = slot.took;
    slot = BenchSlot{slot.problem, slot.number};
    slot.took = took;
    slot.apart = true;
    say(slot, "finds no room beside the others and is searched when they are done: " + why);
  }

  Result<std::unique_ptr<BenchSearch>> begin(const BenchSlot& slot) {
    OptimizeOptions each = options_for(options_, *slot.problem, options_.variants[0]);
    each.in_turns = true;
    each.keep = false;
    each.resume = rows_.run_of(*slot.problem);
    Result<std::unique_ptr<BenchSearch>> opened = worker_.open(each, progress_);
    if (opened.ok() || each.resume.empty() || ends_the_bench(opened.error())) return opened;
    say(slot, fmt::format("run {} cannot go on, another is begun: {}", each.resume, opened.error().message));
    each.resume.clear();
    return worker_.open(each, progress_);
  }

  // All searches are closed then, unless they were interrupted.
  Status take_turns(search::Turns& turns) {
    std::vector<BenchSlot*> places(kept_.size(), nullptr);
    for (BenchSlot& slot : slots_) {
      if (!slot.search) continue;
      slot.place = turns.add(slot.search->original(), slot.search->bound());
      places.push_back(&slot);
      SOLSTICE_CHECK(tell(slot, turns));
      if (const auto why = lacking_room(slot.search->tree(), 0); why && others_open(slot)) {
        SOLSTICE_CHECK(begin_anew_apart(slot, *why, turns));  // it was stopped before that was seen
        continue;
      }
      if (const auto ended = rows_.ended(*slot.problem)) SOLSTICE_CHECK(close(slot, *ended, turns));
    }
    const BenchSlot* last = nullptr;
    while (!interrupted()) {
      const std::optional<search::Turn> turn = turns.next();
      if (!turn) break;
      BenchSlot& slot = *places[turn->problem];
      if (&slot != last) say(slot, search::text_of(*turn, search::Currency::kSeconds));
      last = &slot;
      SOLSTICE_CHECK(step(slot, turns));
    }
    for (BenchSlot& slot : slots_) {
      if (slot.search && !interrupted()) SOLSTICE_CHECK(close(slot, search::Stop::kShared, turns));
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
    if (const auto why = lacking_room(slot.search->tree(), told); why && others_open(slot)) return begin_anew_apart(slot, *why, turns);
    if (!stop) return success();
    SOLSTICE_CHECK(rows_.end(*slot.problem, *stop));
    return close(slot, *stop, turns);
  }

  // What it held on the GPU is free: for the others' searches, and in the end for whose row is made.
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
    const size_t place = slot.place;
    turns.close(place);
    take_failure(slot);
    return slot.apart ? set_aside(slot, place, turns) : success();
  }

  // A trial that others took the room of is no result, and what would follow it in the tree is not what a search alone does.
  Status begin_anew_apart(BenchSlot& slot, const std::string& why, search::Turns& turns) {
    const size_t place = slot.place;
    turns.close(place);
    set_apart(slot, why);
    return set_aside(slot, place, turns);
  }

  // Its run is given up, and the next one's share is no others'. What it had so far is spent.
  Status set_aside(const BenchSlot& slot, size_t place, search::Turns& turns) {
    turns.landed(place, {static_cast<double>(share_.trials.value_or(0)), share_.seconds.value_or(0), 0}, Seconds(0));
    return rows_.forget(*slot.problem);
  }

  // A search that was stopped by Ctrl-C has no row; its run stays.
  Status conclude(BenchSlot& slot) {
    if (interrupted()) return success();
    if (slot.turns) say(slot, fmt::format("had {} trials", slot.turns->trials));
    ConcludingWorker worker = slot.outcome ? ConcludingWorker(worker_, std::move(*slot.outcome))
                                           : ConcludingWorker(worker_, rows_.run_of(*slot.problem), slot.stop);
    SOLSTICE_TRY(BenchRow row, run_problem(options_, *slot.problem, worker, progress_).context("bench of " + slot.problem->id));
    if (interrupted()) return success();
    row.took += slot.took;
    row.variants[0].took += slot.took;
    row.variants[0].turns = slot.turns;
    return rows_.add(std::move(row));
  }

  // Nobody else is there now: what does not fit any more is told in its row.
  Status run_apart() {
    for (BenchSlot& slot : slots_) {
      if (!slot.apart || interrupted()) continue;
      slot.apart = false;
      SOLSTICE_CHECK(open(slot));
      search::Turns turns({}, share_, search::Currency::kSeconds);
      kept_.clear();
      SOLSTICE_CHECK(take_turns(turns));
      SOLSTICE_CHECK(conclude(slot));
    }
    return success();
  }

  void say(const BenchSlot& slot, const std::string& what) {
    progress_.message(fmt::format("{}/{} {}: {}", slot.number, options_.problems.size(), slot.problem->id, what));
  }

  const BenchOptions& options_;
  BenchWorker& worker_;
  Progress& progress_;
  BenchRows& rows_;
  search::TotalBudget share_;
  std::vector<BenchTurns> kept_;  // of rows that an earlier bench made
  std::vector<BenchSlot> slots_;
};

}  // namespace

Status run_shared(const BenchOptions& options, BenchWorker& worker, Progress& progress, BenchRows& rows) {
  return SharedBench(options, worker, progress, rows).run();
}

}  // namespace solstice::flow
