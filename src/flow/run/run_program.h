// One program, tried once: what `solstice run` does, and what a person's own schedule goes through.
#pragma once

#include <optional>
#include <string>

#include "flow/run/state/options.h"
#include "record/original.h"
#include "record/progress.h"
#include "search/tree.h"

namespace solstice::flow {

struct ProgramRun {
  search::Measurement measurement;  // a candidate that fails is data
  bool predicted = false;
  std::optional<Seconds> original;                      // PyTorch eager, where it was timed
  std::string original_is;                              // where it was written from the equations: that
  std::optional<PredictedOriginal> predicted_original;  // where the module is known
  std::optional<Seconds> bound;                         // practical SOL bound, where the module is known
};

// "its equations are the module's: proved", or how far that is known; "" without a module.
std::string same_as_module(const search::Measurement& measurement);

// `text` is a scheduled program; "": the one that the cost models choose for the module. With `options.file` it is a
// candidate for that module: verified on its inputs against the float64 oracle and timed on a GPU, else predicted.
// Without, it is checked, compiled and predicted; where a GPU is asked for, it is measured against an original that is
// written from its equations. Errors: program_invalid; not_yet where none can be written; those of the oracle.
Result<ProgramRun> run_program(const std::string& text, const std::string& name, const RunOptions& options,
                               Progress& progress);

}  // namespace solstice::flow
