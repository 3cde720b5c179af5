#include "flow/bench/slots.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/process/interrupt.h"
#include "flow/bench/row.h"

namespace solstice::flow {

Status BenchSlots::open_all() {
  slots_.reserve(options_.problems.size());
  for (const BenchProblem& problem : options_.problems) {
    const size_t number = static_cast<size_t>(&problem - options_.problems.data()) + 1;
    const BenchTurns* had = rows_.had_before_apart(problem);
    if (const BenchRow* row = rows_.known(problem)) {
      if (had) given_up_.push_back(*had);
      if (row->variants[0].turns) kept_.push_back(*row->variants[0].turns);
      continue;
    }
    if (interrupted()) return success();
    slots_.push_back({&problem, number, nullptr});
    slots_.back().apart = had != nullptr;
    if (had) slots_.back().given_up = *had;
    if (!had) SOLSTICE_CHECK(open(slots_.back()));
  }
  return success();
}

size_t BenchSlots::waiting() const {
  const auto later = [](const BenchSlot& s) { return s.apart || s.cut; };
  return static_cast<size_t>(std::count_if(slots_.begin(), slots_.end(), later));
}

size_t BenchSlots::searches() const {
  const auto open = std::count_if(slots_.begin(), slots_.end(), [](const BenchSlot& s) { return s.search != nullptr; });
  return kept_.size() + static_cast<size_t>(open) + waiting();
}

Status BenchSlots::open(BenchSlot& slot) {
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
  return take_failure(slot);
}

Result<std::unique_ptr<BenchSearch>> BenchSlots::begin(const BenchSlot& slot) {
  OptimizeOptions each = options_for(options_, *slot.problem, options_.variants[0]);
  each.search.in_turns = true;
  each.keep = false;
  each.resume = rows_.run_of(*slot.problem);
  Result<std::unique_ptr<BenchSearch>> opened = worker_.open(each, progress_);
  if (opened.ok() || each.resume.empty() || ends_the_bench(opened.error())) return opened;
  say(slot, fmt::format("run {} cannot continue, a new one begins: {}", each.resume, opened.error().message));
  each.resume.clear();
  return worker_.open(each, progress_);
}

Status BenchSlots::take_failure(BenchSlot& slot) {
  const bool sound = worker_.sound();
  Result<OptimizeOutcome> outcome = slot.search->conclude();
  slot.search.reset();
  if (!outcome.ok() && ends_the_bench(outcome.error())) return std::move(outcome).error();
  if (!outcome.ok() && outcome.error().code == Code::too_large && others_open(slot))
    set_apart(slot, outcome.error().message);
  else if (outcome.ok() && outcome->left_whole)
    set_cut(slot, outcome->report.reason);
  else
    slot.outcome.emplace(std::move(outcome));
  return sound ? success() : open_others_again();
}

Status BenchSlots::open_others_again() {
  std::vector<BenchSlot*> closed;
  for (BenchSlot& slot : slots_) {
    if (slot.search) closed.push_back(&slot);
    slot.search.reset();
  }
  worker_.renew();
  for (BenchSlot* slot : closed) {
    say(*slot, "continues with a new judge, since a search broke the shared one");
    SOLSTICE_CHECK(open(*slot));
  }
  return success();
}

bool BenchSlots::others_open(const BenchSlot& slot) const {
  return std::any_of(slots_.begin(), slots_.end(), [&](const BenchSlot& s) { return s.search && &s != &slot; });
}

void BenchSlots::begin_later(BenchSlot& slot) {
  BenchSlot fresh{slot.problem, slot.number};
  fresh.place = slot.place;
  fresh.took = slot.took;
  slot = std::move(fresh);
}

void BenchSlots::set_cut(BenchSlot& slot, const std::string& why) {
  begin_later(slot);
  slot.cut = true;
  say(slot, "is not ours as a whole and is searched in parts after the others: " + why);
}

void BenchSlots::set_apart(BenchSlot& slot, const std::string& why) {
  begin_later(slot);
  slot.apart = true;
  say(slot, "does not fit into memory next to the others and is searched after them: " + why);
}

void BenchSlots::say(const BenchSlot& slot, const std::string& what) {
  progress_.message(fmt::format("{}/{} {}: {}", slot.number, options_.problems.size(), slot.problem->id, what));
}

}  // namespace solstice::flow
