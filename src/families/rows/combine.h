// A sweep's reductions over the threads that share a row: inside a warp by shuffles, else through slots of shared
// memory, of the block or of the cluster's blocks.
#pragma once

#include <string>
#include <vector>

#include "families/rows/reduction.h"
#include "families/rows/settings.h"

namespace solstice::families::rows {

class Combiner {
 public:
  explicit Combiner(const Settings& settings) : s_(settings) {}

  // From the lanes' accumulators (accumulate.h) to results that all threads of the row have; ends the accumulators'
  // block. "" without reductions.
  std::string write(const std::vector<Reduction>& reductions);
  // Of the slots of all reductions so far.
  int64_t shared_bytes() const { return shared_; }

 private:
  struct Exchange {
    std::string publish, collect;  // before and behind the barrier
  };
  Exchange exchange(const Reduction& reduction);

  const Settings& s_;
  int64_t shared_ = 0;
  bool waited_ = false;  // until all blocks of the cluster run
};

}  // namespace solstice::families::rows
