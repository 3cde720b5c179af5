// Time: a monotonic clock for durations and deadlines, wall time for records.
#pragma once

#include <string>

#include "base/units.h"

namespace solstice {

Seconds monotonic_now();
std::string utc_now();  // "2026-01-31T12:34:56.789Z"

// A point on the monotonic clock; `left()` is never negative.
class Deadline {
 public:
  explicit Deadline(Seconds from_now) : end_(monotonic_now() + from_now) {}
  Seconds left() const;
  bool passed() const { return left().value <= 0; }

 private:
  Seconds end_;
};

}  // namespace solstice
