// Reductions over the threads that share a row: inside a warp by shuffles, else through slots of shared memory, of the
// block or of the cluster's blocks.
#pragma once

#include <string>
#include <vector>

#include "families/reduction/reduction_text.h"
#include "families/rows/settings.h"

namespace solstice::families::rows {

// A thread's value of a reduction, and the variable that receives the row's.
struct Joined {
  const Reduction& reduction;
  std::string from, to;
  std::string before = "";  // statements that make `from`
};

class Combiner {
 public:
  explicit Combiner(const Settings& settings) : s_(settings) {}

  // With one barrier, or none where a warp needs none.
  std::string join(const std::vector<Joined>& all);
  // From the lanes' accumulators (accumulate.h) to results that all threads of the row have; ends the accumulators'
  // block. "" without reductions.
  std::string write(const std::vector<Reduction>& reductions);
  // Slots of all reductions so far.
  int64_t shared_bytes() const { return shared_; }

 private:
  struct Exchange {
    std::string publish, collect;  // before and after the barrier
  };
  Exchange exchange(const Joined& one);

  const Settings& s_;
  int64_t shared_ = 0;
  bool waited_ = false;  // until all blocks of the cluster run
};

}  // namespace solstice::families::rows
