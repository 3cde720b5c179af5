// Blocks that stay for many rows. While a row is held in registers, the row's data of the next one is on its way to shared memory:
// each thread copies what it will hold itself (cp.async), so nobody waits for another thread's copies, and DRAM is busy while a
// cluster's blocks wait for each other.
#pragma once

#include <string>
#include <vector>

#include "families/rows/draft.h"

namespace solstice::families::rows {

class Ahead {
 public:
  // Reads nothing ahead unless `ahead` is set.
  explicit Ahead(const Draft& draft);

  // Where a read of the first sweep arrives, the vector of step `k`; "": it is loaded where it is used.
  std::string slot(const ir::ExprRef& read) const;
  // Ahead of the loop over rows, and of all else that the emitter writes: the slots, in the first `bytes` of shared memory, and
  // `fetch_row`.
  Result<std::string> fetching(Draft& draft, int64_t& bytes) const;

 private:
  std::vector<ir::ExprRef> reads_;
};

// Bytes of shared memory that a thread's slots take.
int64_t ahead_slot_bytes(const ir::Program& program, const Shape& shape, const Settings& settings);

}  // namespace solstice::families::rows
