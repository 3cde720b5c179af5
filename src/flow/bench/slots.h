// The problems of a bench with a shared budget: their searches are begun, given up, and begun again.
#pragma once

#include <vector>

#include "flow/bench/bench_options.h"
#include "flow/bench/rows.h"
#include "flow/bench/slot.h"

namespace solstice::flow {

class BenchSlots {
 public:
  BenchSlots(const BenchOptions& options, BenchWorker& worker, Progress& progress, BenchRows& rows)
      : options_(options), worker_(worker), progress_(progress), rows_(rows) {}

  // One slot for each problem without a row. Errors here and below: what ends a bench.
  Status open_all();
  // Without a search in `slot.search` there is an outcome, or it waits.
  Status open(BenchSlot& slot);
  // The search failed: it is over, or waits where only the others are in its way. Where it broke what all share, the
  // others go on from the store with another.
  Status take_failure(BenchSlot& slot);
  void set_apart(BenchSlot& slot, const std::string& why);
  void set_cut(BenchSlot& slot, const std::string& why);
  bool others_open(const BenchSlot& slot) const;

  std::vector<BenchSlot>& all() { return slots_; }
  size_t waiting() const;   // that are searched alone, or in parts
  size_t searches() const;  // with those that had their share in an earlier bench
  // Turns spent by an earlier bench: on rows that are kept, and on searches that it set apart before these had rows.
  const std::vector<BenchTurns>& kept() const { return kept_; }
  const std::vector<BenchTurns>& given_up() const { return given_up_; }

  void say(const BenchSlot& slot, const std::string& what);

 private:
  Result<std::unique_ptr<BenchSearch>> begin(const BenchSlot& slot);
  Status open_others_again();
  static void begin_later(BenchSlot& slot);

  const BenchOptions& options_;
  BenchWorker& worker_;
  Progress& progress_;
  BenchRows& rows_;
  std::vector<BenchSlot> slots_;
  std::vector<BenchTurns> kept_, given_up_;
};

}  // namespace solstice::flow
