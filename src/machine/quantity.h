// Quantities as people write them in machine files: "4.8 TB/s", "60 MiB", "1980 MHz", "6.6 us". A number, a blank, a
// unit with at most one prefix. k M G T P are powers of 1000; Ki Mi Gi powers of 1024 (bytes only); m u n below one.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace solstice::machine {

enum class Dimension { kBytes, kBytesPerSecond, kOpsPerSecond, kSeconds, kHertz, kWatts };

// The value in SI base units. Error bad_machine: what was read, with how_to_write as its hint.
Result<double> parse_quantity(std::string_view text, Dimension dimension);
std::string how_to_write(Dimension dimension);  // the way out of a wrong one: `write it like "4.8 TB/s"`
// Text that parse_quantity reads back to exactly `value`.
std::string quantity_text(double value, Dimension dimension);

}  // namespace solstice::machine
