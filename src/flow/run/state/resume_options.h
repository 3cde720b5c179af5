// Options of a run that goes on. Those it began with are known: they need not be given again, and may not be others.
//
// By name: FILE (with its class), --device, --machine, --numerics, --weights, --rewrites, --memory and --findings.
// Options that lead the search or end it may be others from then on: --policy, --seed, --budget (its time), --trials
// (of `optimize`: those of its --budget), --eps, --window, --roi and --out.
#pragma once

#include <string>

#include "flow/run/state/options.h"
#include "flow/run/state/stored_runs.h"
#include "store/store.h"

namespace solstice::flow {

// RunRecord::options: all that it takes to go on with the run.
Json kept_options(const OptimizeOptions& options);
// The options of its search, which a resumed run may change.
Json search_options(const OptimizeOptions& options);
// RunRecord::options_key.
std::string options_key_of(const OptimizeOptions& options);

// Member of RunRecord::summary: the module was cut into parts (flow/run/partial.h).
inline constexpr const char* kCut = "cut";
// bad_argument of a run that cannot go on: of a module that was cut and has ended, or that batches would measure, and
// of a stage by itself.
Status check_whole(const RunRecord& run, const OptimizeOptions& options);

// Fills in what `options.left_out` names as the run began with it, as far as its record says. Error bad_argument where
// the run is of a module that only Python can pass.
Status take_as_begun(const store::LoadedRun& loaded, OptimizeOptions& options);

// bad_argument where the run began with others: each that differs is named, with what the run had and what is given,
// and the command that goes on with it. `now`: the texts of the files of `options.module`.
Status check_as_begun(const OptimizeOptions& options, const StoredRun& now, const store::LoadedRun& loaded);

// Completes what else a run goes by: its policy, its lead, the terms of its language model, and the machine that times
// are predicted for. `resumed`: the run that goes on, or null. Error bad_record.
Status complete_options(const store::LoadedRun* resumed, RunOptions& options);

}  // namespace solstice::flow
