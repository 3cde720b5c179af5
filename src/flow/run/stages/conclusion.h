// The end of a run: what it comes to, what of it is kept, and what it says of the cached graph.
#pragma once

#include "flow/run/state/run.h"

namespace solstice::flow {

// A problem that Solstice cannot express or run yet is an outcome; everything else that goes wrong is an error.
bool is_outcome(const Error& error);

// Whether an error lies in the user's module, or is his wish: the processes that met it are sound.
bool is_of_the_user(const Error& error);

// The peaks of original and replacement, where the latter is faster. A verified win stays one where they cannot be
// measured: the report then says so and lacks them.
void measure_memory(Session& state);

// A graph from the cache under which nothing verifies may be stale in a way its key cannot see: it is not used again.
void distrust_graph(Session& state, const Status& done);

// "; trial 1: why": what was said of the first trial that was not usable, the cost models' favourite of those. "": of
// none.
std::string first_refusal(const search::Tree& tree);

// Why nothing is faster, where no stage has said so: without a GPU nothing is measured. No trial at all is a reason of
// its own.
void conclude_search(Session& state);

// Error `interrupted` where Ctrl-C came before any candidate was usable: there is nothing to put in an outcome's place.
Status worth_keeping(const Session& state);

// The error of a run that put nothing in the place of the outcome that lies in `out`.
Error that_left(Error error, const std::filesystem::path& out);

}  // namespace solstice::flow
