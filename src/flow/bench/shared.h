// A bench whose problems share one budget: all searches are begun, then the schedule (search/turns.h) says before each
// trial whose it is. A search keeps its tensors and its Python process while it takes turns: beginning again costs
// seconds, a trial a fraction of one. When it is over it is closed, and when all are, each run comes to its end (full
// verification, finalists, drop-in, opponents) as in a bench without such a budget, with the GPU to itself: no result
// depends on what else was open. One that finds no room beside the others, when it is made ready or in a trial, waits
// until they are done and is searched alone; a share of the fixed split is kept of the budget for it, and the schedule
// says how much of that it is worth.
#pragma once

#include "flow/bench/bench_options.h"
#include "flow/bench/rows.h"
#include "flow/bench/worker.h"

namespace solstice::flow {

// A stopped search stays in the store, and the record names the run that continues it. Errors: those that end a bench.
Status run_shared(const BenchOptions& options, BenchWorker& worker, Progress& progress, BenchRows& rows);

}  // namespace solstice::flow
