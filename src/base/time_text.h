// A duration as text, in a fitting unit.
#pragma once

#include <string>

#include "base/units.h"

namespace solstice {

struct TimeScale {
  double factor;  // units a second
  const char* unit;
};
TimeScale time_scale(Seconds time);  // s, ms or us

std::string time_text(Seconds time);  // "12.3 us"

}  // namespace solstice
