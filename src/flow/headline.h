// What the headline must satisfy beside its interval, and how it is held against the judge's measurement.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "record/oracle_messages.h"
#include "record/timing.h"

namespace solstice::flow {

// Clocks seen right after the blocks of a comparison; side 0 is the original, 1 the drop-in.
class HeadlineClocks {
 public:
  void add(size_t side, const ClockReading& reading);
  Hertz mean(size_t side) const;   // 0: not known
  double ratio() const;            // the drop-in's over the original's; 0: not known
  // Why the comparison does not count: thermal or hardware slowdown. "": it does, as far as is known.
  std::string objection() const;
  // That the clocks were more than 3 % apart, and what the speedup is worth at the least. "": they were not.
  std::string difference(double speedup) const;
  // What is not known of it: "" where every block's clock and throttle reasons were read.
  std::string unknown() const;

 private:
  struct Side {
    double mhz = 0;
    int read = 0;
  };
  std::array<Side, 2> sides_;
  int blocks_ = 0, unread_ = 0;
  int64_t throttle_ = 0;
};

// Where judge and headline differ by more than 5 %: both medians of both, and the side that makes the difference. ""
// where they agree.
std::string disagreement(const Timing& judge, const OracleComparison& headline);

}  // namespace solstice::flow
