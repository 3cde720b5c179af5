#include "base/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace solstice {

Seconds monotonic_now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return Seconds(static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9);
}

std::string utc_now() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  tm parts{};
  gmtime_r(&t.tv_sec, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, t.tv_nsec / 1000000);
}

Seconds Deadline::left() const { return Seconds(std::max(0.0, (end_ - monotonic_now()).value)); }

}  // namespace solstice
