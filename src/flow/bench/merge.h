// Benches of one machine as one.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "record/bench.h"

namespace solstice::flow {

// One bench of several: where two have a problem, the row that was finished last stands. Rows by level and number.
// Error bad_argument where they were made under other options, of other files of one number, or on another GPU, driver
// or PyTorch: it names both benches and what differs.
struct NamedBench {
  std::string name;
  Bench bench;
};
Result<Bench> merge_benches(std::vector<NamedBench> benches);

}  // namespace solstice::flow
