// Options of a run that goes on: what it began with is known, so they need not be said again, and may not be others.
//
// By name: FILE (with its class), --device, --machine, --numerics, --weights, --rewrites and --memory. What leads the
// search and says where it ends may be another from then on: --policy, --seed, --budget (its time), --trials (of
// `optimize`: those of its --budget),
// --eps, --window, --roi and --out.
#pragma once

#include <string>

#include "flow/run/optimize.h"
#include "store/store.h"

namespace solstice::flow {

// RunRecord::options: what it takes to go on with the run.
Json kept_options(const OptimizeOptions& options);
// Those of its search, which a run that goes on may change.
Json search_options(const OptimizeOptions& options);
// RunRecord::options_key.
std::string options_key_of(const OptimizeOptions& options);

// What `options.left_out` names is as the run began with it, as far as its record says, and `resume` its whole id.
// Errors: not_found; bad_argument where the run is of a module that only Python can pass.
Result<OptimizeOptions> as_begun(OptimizeOptions options);

// bad_argument where the run began with others: each that differs is named, with what the run had and what is given,
// and the command that goes on with it. `source`: the text of `options.file`.
Status check_as_begun(const OptimizeOptions& options, const std::string& source, const store::LoadedRun& loaded);

// Whether candidates were measured on a GPU, as its events say, or were to be, as its record does; else their times are
// predicted, or nothing came in yet.
bool is_of_gpu(const store::LoadedRun& loaded);
// That GPU's name; "a GPU" where results of batches came without it.
std::string gpu_of(const RunRecord& run);

// Whether it has had batches.
bool is_measured_elsewhere(const RunRecord& run);

// What goes on with the run: "solstice optimize --resume ID --store DIR", `solstice propose ID` where it is measured
// elsewhere, or the call of whoever passes the module in Python.
std::string command_to_resume(const OptimizeOptions& options, const RunRecord& run);
std::string command_to_propose(const std::string& run, const std::filesystem::path& store);
std::string command_to_optimize(const std::string& run, const std::filesystem::path& store);

}  // namespace solstice::flow
