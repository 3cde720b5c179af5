// Waits before another attempt.
#pragma once

#include <cstdint>

#include "base/units.h"

namespace solstice::llm {

// first x 2^(retry - 1), at most `longest`, less up to a half of it by chance, so that clients that failed together do
// not come back together. `retry` is 1, 2, ...; the same seed and retry give the same wait.
Seconds backoff(Seconds first, Seconds longest, int retry, uint64_t seed);

}  // namespace solstice::llm
