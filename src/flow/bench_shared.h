// A bench whose problems share one budget: all searches are begun, then the schedule (search/turns.h) says before each trial whose it
// is, and when no problem gets more, all are concluded. A search keeps its tensors and its Python process from beginning to end:
// beginning again costs seconds, a trial a fraction of one. One that finds no room beside the others waits until they are done and
// then has the share that the fixed split gives it.
#pragma once

#include "flow/bench_rows.h"

namespace solstice::flow {

// What is stopped stays in the store, and the record says by which run it goes on. Errors: what ends a bench.
Status run_shared(const BenchOptions& options, BenchWorker& worker, Progress& progress, BenchRows& rows);

// What a search had of the shared budget, and what the fixed split's `share` would have given it.
Result<BenchTurns> turns_of(const BenchSearch& search, const search::TotalBudget& share, search::Stop stop);

}  // namespace solstice::flow
