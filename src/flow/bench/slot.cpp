#include "flow/bench/slot.h"

#include "record/verdict.h"
#include "search/replay/stopping.h"

namespace solstice::flow {

std::optional<std::string> lacking_room(const search::Tree& tree, size_t first) {
  static const std::string kName = enum_names(Outcome{})[static_cast<size_t>(Outcome::kOutOfMemory)];
  for (size_t i = first; i < tree.events().size(); ++i) {
    const std::optional<search::Measurement>& measured = tree.events()[i].measurement;
    if (measured && measured->record.at("verdict").at("outcome").as_string() == kName) return measured->detail;
  }
  return std::nullopt;
}

Status tell(BenchSlot& slot, search::Turns& turns) {
  const std::vector<search::Event>& events = slot.search->tree().events();
  for (; slot.told < events.size(); ++slot.told) {
    const search::Event& event = events[slot.told];
    SOLSTICE_CHECK(slot.seen.apply(event));
    const bool landed = event.kind == search::Event::Kind::kMeasured || event.kind == search::Event::Kind::kLost;
    if (event.node == 0 || !landed) continue;
    const search::Node* best = slot.seen.best();
    const double seconds = event.measurement ? event.measurement->cost.value : 0;
    turns.landed(slot.place, {1, seconds, 0}, best ? search::timed(*best) : search::Timed());
  }
  return success();
}

Result<BenchTurns> turns_of(const BenchSearch& search, const search::TotalBudget& share, search::Stop stop) {
  search::RecordedRun run{
      .id = search.run(), .events = search.tree().events(), .original = search.original(), .bound = search.bound()};
  SOLSTICE_TRY(const search::Record record, search::Record::read(std::move(run)));
  const search::Sequence& sequence = record.sequence();
  const search::Spent& spent = sequence.last().spent;
  BenchTurns out{static_cast<int>(spent.trials), Seconds(spent.seconds), 0, {}, enum_name(stop)};
  if (search.original().value <= 0) return out;
  out.speedup = sequence.last().speedup;
  const search::Point& at = sequence.points[search::stop_of(sequence, {.budget = share})];
  const bool reached =
      (share.trials && at.spent.trials >= *share.trials) || (share.seconds && at.spent.seconds >= *share.seconds);
  if (reached || stop != search::Stop::kShared) out.fixed = at.speedup;
  return out;
}

}  // namespace solstice::flow
