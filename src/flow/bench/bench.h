// A bench: the main job on every problem of a KernelBench folder, one after the other, under one policy or several,
// with the opponents timed alongside. No problem can end it: an error becomes its row. An error that every further
// problem would meet as well (no GPU, a full disk) ends it.
#pragma once

#include <functional>

#include "flow/bench/bench_options.h"
#include "flow/bench/worker.h"
#include "record/bench.h"

namespace solstice::flow {

// `after` is called with each row as it is done (also with those a resumed bench kept). Stops after the problem in hand
// on Ctrl-C. Errors: io_error, disk_full; bad_argument where `out` holds a bench and this is no resume, for a resume
// under other options or on another GPU, driver or PyTorch (known after the first new row, which is then not kept), and
// where another bench writes to `out`; what ends a bench. Rows of several builds of Solstice may stand together: each
// says its own, and so does the table's head.
Result<Bench> run_bench(const BenchOptions& options, BenchWorker& worker, Progress& progress,
                        const std::function<void(const BenchRow&)>& after);

}  // namespace solstice::flow
