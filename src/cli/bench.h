// Options that the benches share, and a run of one bench.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/command.h"
#include "flow/bench/bench.h"

namespace solstice::cli {

// `first`, then the options of every bench; `out` is where outcomes go by default.
std::vector<Parameter> bench_parameters(std::vector<Parameter> first, const std::string& out);

Result<int> run_bench_of(const Invocation& in, std::vector<flow::BenchProblem> problems);
Result<int> render_bench_again(const std::filesystem::path& folder);  // bench.md and bench.svg, from bench.json

}  // namespace solstice::cli
