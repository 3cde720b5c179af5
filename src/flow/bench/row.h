// One row of a bench: a problem under every variant, beside its opponents.
#pragma once

#include "flow/bench/bench_options.h"
#include "flow/bench/worker.h"
#include "record/bench.h"

namespace solstice::flow {

// Errors: what ends a bench. Any other error is told in the row.
Result<BenchRow> run_problem(const BenchOptions& options, const BenchProblem& problem, BenchWorker& worker,
                             Progress& progress);

OptimizeOptions options_for(const BenchOptions& options, const BenchProblem& problem, const VariantName& variant);

// True for an error that every further problem would meet too.
bool ends_the_bench(const Error& error);

Result<std::string> hash_of(const BenchProblem& problem);  // of its file

}  // namespace solstice::flow
