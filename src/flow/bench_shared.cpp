#include "flow/bench_shared.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/interrupt.h"
#include "flow/bench_row.h"
#include "search/stopping.h"

namespace solstice::flow {
namespace {

struct Slot {
  const BenchProblem* problem = nullptr;
  size_t number = 0;                    // among all problems, from 1
  std::unique_ptr<BenchSearch> search;  // while it is open
  std::optional<Result<OptimizeOutcome>> outcome = {};
  bool apart = false;             // it found no room beside the others
  search::Tree seen{Seconds(0)};  // as far as the schedule was told
  size_t told = 0;                // events
  size_t place = 0;               // in the schedule
  search::Stop stop = search::Stop::kShared;
  Seconds took{0};
};

// A row is made as ever, of an outcome that is there already.
class Concluded : public BenchWorker {
 public:
  Concluded(BenchWorker& worker, Result<OptimizeOutcome> outcome) : worker_(worker), outcome_(std::move(outcome)) {}
  void begin(const OptimizeOptions&) override {}
  Result<OptimizeOutcome> optimize(const OptimizeOptions&, Progress&) override { return std::move(outcome_); }
  Result<std::unique_ptr<BenchSearch>> open(const OptimizeOptions& options, Progress& progress) override {
    return worker_.open(options, progress);
  }
  Result<OpponentsFound> compete(const OpponentsRequest& request, Progress& progress) override {
    return worker_.compete(request, progress);
  }
  void end() override { worker_.end(); }

 private:
  BenchWorker& worker_;
  Result<OptimizeOutcome> outcome_;
};

// What the events that `turns` was not told yet say of the problem's trials.
Status tell(Slot& slot, search::Turns& turns) {
  const std::vector<search::Event>& events = slot.search->tree().events();
  for (; slot.told < events.size(); ++slot.told) {
    const search::Event& event = events[slot.told];
    SOLSTICE_CHECK(slot.seen.apply(event));
    const bool landed = event.kind == search::Event::Kind::kMeasured || event.kind == search::Event::Kind::kLost;
    if (event.node == 0 || !landed) continue;
    const search::Node* best = slot.seen.best();
    const double seconds = event.measurement ? event.measurement->cost.value : 0;
    turns.landed(slot.place, {1, seconds, 0}, best ? best->measurement->time : Seconds(0));
  }
  return success();
}

class SharedBench {
 public:
  SharedBench(const BenchOptions& options, BenchWorker& worker, Progress& progress, BenchRows& rows)
      : options_(options), worker_(worker), progress_(progress), rows_(rows) {}

  Status run() {
    SOLSTICE_CHECK(open_all());
    const auto apart = static_cast<size_t>(std::count_if(slots_.begin(), slots_.end(), [](const Slot& s) { return s.apart; }));
    const size_t together = searches() - apart;
    share_ = search::share_of(options_.shared->total, searches());
    search::TotalBudget total = options_.shared->total;
    if (apart > 0 && total.trials) *total.trials = *share_.trials * static_cast<int>(together);
    if (apart > 0 && total.seconds) *total.seconds = *share_.seconds * static_cast<double>(together);
    search::Turns turns(options_.shared->schedule, total, search::Currency::kSeconds);
    for (const BenchTurns& had : kept_) turns.landed(turns.add(Seconds(0), Seconds(0)), {double(had.trials), had.spent.value, 0}, {});
    for (size_t i = 0; i < kept_.size(); ++i) turns.close(i);
    SOLSTICE_CHECK(take_turns(turns));
    for (Slot& slot : slots_) {
      if (!slot.apart) SOLSTICE_CHECK(conclude(slot));
    }
    return run_apart();
  }

 private:
  size_t searches() const {
    const auto open = std::count_if(slots_.begin(), slots_.end(), [](const Slot& s) { return s.search || s.apart; });
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
  Status open(Slot& slot) {
    const Seconds began = monotonic_now();
    say(slot, "is prepared");
    Result<std::unique_ptr<BenchSearch>> opened = begin(slot);
    slot.took += monotonic_now() - began;
    if (!opened.ok()) {
      if (ends_the_bench(opened.error())) return std::move(opened).error();
      slot.outcome.emplace(std::move(opened).error());
      return success();
    }
    if ((*opened)->ready()) {
      slot.search = std::move(*opened);
      return rows_.open(*slot.problem, slot.search->run());
    }
    Result<OptimizeOutcome> outcome = (*opened)->conclude();
    const bool others = std::any_of(slots_.begin(), slots_.end(), [](const Slot& s) { return s.search != nullptr; });
    if (!outcome.ok() && outcome.error().code == Code::too_large && others) {
      slot.apart = true;
      say(slot, "finds no room beside the others and is searched when they are done: " + outcome.error().message);
      return success();
    }
    slot.outcome.emplace(std::move(outcome));
    return success();
  }

  Result<std::unique_ptr<BenchSearch>> begin(const Slot& slot) {
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

  Status take_turns(search::Turns& turns) {
    std::vector<Slot*> places(kept_.size(), nullptr);
    for (Slot& slot : slots_) {
      if (!slot.search) continue;
      slot.place = turns.add(slot.search->original(), slot.search->bound());
      places.push_back(&slot);
      SOLSTICE_CHECK(tell(slot, turns));
    }
    const Slot* last = nullptr;
    while (!interrupted()) {
      const std::optional<search::Turn> turn = turns.next();
      if (!turn) break;
      Slot& slot = *places[turn->problem];
      if (&slot != last) say(slot, search::text_of(*turn, search::Currency::kSeconds));
      last = &slot;
      SOLSTICE_CHECK(step(slot, turns));
    }
    return success();
  }

  static Status step(Slot& slot, search::Turns& turns) {
    const Seconds began = monotonic_now();
    const std::optional<search::Stop> stop = slot.search->step();
    slot.took += monotonic_now() - began;
    if (stop) {
      slot.stop = *stop;
      turns.close(slot.place);
    }
    return tell(slot, turns);
  }

  // A search that was stopped by Ctrl-C has no row; its run stays.
  Status conclude(Slot& slot) {
    if (interrupted()) return success();
    const Seconds began = monotonic_now();
    std::optional<BenchTurns> turns;
    if (slot.search) {
      SOLSTICE_TRY(turns, turns_of(*slot.search, share_, slot.stop));
      if (slot.stop == search::Stop::kShared) slot.search->give_up();
      say(slot, fmt::format("had {} trials", turns->trials));
      slot.outcome.emplace(slot.search->conclude());
      slot.search.reset();
    }
    slot.took += monotonic_now() - began;
    Concluded worker(worker_, std::move(*slot.outcome));
    SOLSTICE_TRY(BenchRow row, run_problem(options_, *slot.problem, worker, progress_).context("bench of " + slot.problem->id));
    if (interrupted()) return success();
    row.took += slot.took;
    row.variants[0].took += slot.took;
    row.variants[0].turns = turns;
    return rows_.add(std::move(row));
  }

  // Nobody else is there now: what does not fit any more is told in its row.
  Status run_apart() {
    for (Slot& slot : slots_) {
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

  void say(const Slot& slot, const std::string& what) {
    progress_.message(fmt::format("{}/{} {}: {}", slot.number, options_.problems.size(), slot.problem->id, what));
  }

  const BenchOptions& options_;
  BenchWorker& worker_;
  Progress& progress_;
  BenchRows& rows_;
  search::TotalBudget share_;
  std::vector<BenchTurns> kept_;  // of rows that an earlier bench made
  std::vector<Slot> slots_;
};

}  // namespace

Result<BenchTurns> turns_of(const BenchSearch& search, const search::TotalBudget& share, search::Stop stop) {
  search::RecordedRun run{.id = search.run(), .events = search.tree().events(), .original = search.original(), .bound = search.bound()};
  SOLSTICE_TRY(const search::Record record, search::Record::read(std::move(run)));
  const search::Sequence& sequence = record.sequence();
  const search::Spent& spent = sequence.last().spent;
  BenchTurns out{static_cast<int>(spent.trials), Seconds(spent.seconds), 0, {}, enum_names(stop)[static_cast<size_t>(stop)]};
  if (search.original().value <= 0) return out;
  out.speedup = sequence.last().speedup;
  const search::Point& at = sequence.points[search::stop_of(sequence, {.trials = share.trials, .seconds = share.seconds})];
  const bool reached = (share.trials && at.spent.trials >= *share.trials) || (share.seconds && at.spent.seconds >= *share.seconds);
  if (reached || stop != search::Stop::kShared) out.fixed = at.speedup;
  return out;
}

Status run_shared(const BenchOptions& options, BenchWorker& worker, Progress& progress, BenchRows& rows) {
  return SharedBench(options, worker, progress, rows).run();
}

}  // namespace solstice::flow
