#include "base/time_text.h"

#include <fmt/format.h>

namespace solstice {

TimeScale time_scale(Seconds time) {
  if (time.value >= 1) return {1, "s"};
  if (time.value >= 1e-3) return {1e3, "ms"};
  return {1e6, "us"};
}

std::string time_text(Seconds time) {
  const TimeScale scale = time_scale(time);
  return fmt::format("{:.4g} {}", time.value * scale.factor, scale.unit);
}

}  // namespace solstice
