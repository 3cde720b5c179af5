// Decides if rows belong in one table: run with the same options, in the same place.
#pragma once

#include <map>
#include <string>

#include "flow/bench/bench_options.h"
#include "record/bench.h"

namespace solstice::flow {

// Options that change a row, as text.
std::map<std::string, std::string> options_of(const BenchOptions& options);

// "budget (15 s then, 60 s now), trials (...)"; "" where they are the same. `then` and `now` say what the two are
// called.
std::string differences(const std::map<std::string, std::string>& first,
                        const std::map<std::string, std::string>& second, const std::string& then,
                        const std::string& now);

// Builds of Solstice may differ within a table; the GPU, its driver and PyTorch may not: "" or "device A then, B now".
std::string place_difference(const BenchRow& first, const BenchRow& second, const std::string& then,
                             const std::string& now);

bool before(const BenchRow& first, const BenchRow& second);  // by level and number

}  // namespace solstice::flow
