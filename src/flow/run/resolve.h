// Resolution of a run: its options and its place in the store, from what the caller asks for and, with `--resume`, the
// record of the run that goes on. That record's options are read here and nowhere later.
#pragma once

#include "flow/run/state/run.h"

namespace solstice::flow {

struct ResolvedRun {
  RunOptions options;
  StoredRun stored;
};

// Opens the store and loads the run that goes on, once, under its whole id: what the caller leaves out is as it has it,
// what the caller names is compared. Nothing is written but the end of processes that were killed. Errors: not_found;
// io_error; bad_argument where the run is of another problem or under other options, or leaves a language model no
// trial; bad_record.
Result<ResolvedRun> resolve_run(OptimizeOptions request);

// Opens the policy and the language model of a run, before anything is written for it: so that a mistake leaves nothing
// behind. Errors: those of search::make_policy() and AgentSide::open().
Status open_leaders(Run& run);

}  // namespace solstice::flow
