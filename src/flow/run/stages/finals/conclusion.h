// The end of a run: its result, the part of it that is kept, and its verdict on the cached graph.
#pragma once

#include "flow/run/stages/finals/finalist.h"
#include "flow/run/stages/prepare/import.h"
#include "flow/run/state/run.h"
#include "search/stop_rule.h"

namespace solstice::flow {

// A problem that Solstice cannot express or run yet is an outcome; everything else that goes wrong is an error.
bool is_outcome(const Error& error);

// An error that lies in the user's module, or is his wish: the processes that met it are sound.
bool is_of_the_user(const Error& error);

// A slip of the command line or of the problem's file, which a run that has no trial is not worth keeping for.
bool is_mistake(const Error& error);

// A graph from the cache under which nothing verifies on a GPU may be stale in a way its key cannot see: it is not used
// again.
void distrust_graph(Run& run, const Problem& problem, const std::vector<Finalist>& finalists, const Status& done);

// Says what the run came to, where nothing was found faster: without a GPU nothing is measured and the outcome is
// `predicted`; after Ctrl-C it is `interrupted`. No trial at all is a reason of its own.
void conclude_search(Run& run, search::Stop stop, bool gpu);

// Error `interrupted` where Ctrl-C came before any candidate was usable: there is nothing to put in an outcome's place.
Status worth_keeping(const search::Tree& tree);

// The error of a run that put nothing in the place of the outcome that lies in `out`.
Error that_left(Error error, const std::filesystem::path& out);

}  // namespace solstice::flow
