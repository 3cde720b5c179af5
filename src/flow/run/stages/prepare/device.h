// Devices that measure candidates: the cost models, the first GPU, or that and others of this host.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "evaluate/gpu_fleet.h"
#include "evaluate/trial_builds.h"
#include "flow/run/stages/prepare/bounds.h"
#include "search/search.h"

namespace solstice::flow {

// The problem with everything that candidates of it are measured with. It stays where it is made: its devices refer to
// it.
struct Measurable {
  const Opened& opened;
  const Imported& imported;
  const Bounds& bounds;
  TrialInputs inputs = {};
  std::unique_ptr<evaluate::TrialBuilds> builds = {};  // null on the model device
  std::unique_ptr<search::Evaluator> device = {};
  evaluate::Fleet* fleet =
      nullptr;  // `device`, where it is several GPUs: the judge is this thread's only while it rests
};

// Takes the inputs of `imported`, or prepares others; where it ends in an error they are left there, for the next run.
// All arguments outlive the result. Errors: too_large; those of the oracle, the compiler and the judge.
Result<std::unique_ptr<Measurable>> open_device(Run& run, Opened& opened, Imported& imported, const Bounds& bounds);

// Ends the search's use of several GPUs: all that follows is measured on the first one, by this thread. `measurable`:
// null where no device was opened.
void close_fleet(Run& run, Measurable* measurable);

// Repetitions of a block: fewer where every one moves so much memory (fresh inputs, checked outputs) that the block
// would take long; the kernels are long then too.
int repetitions_for(const Problem& problem, int usual);

// The search's standing, for the progress display.
Standing standing_of(const Run& run, const Measurable& measurable);

}  // namespace solstice::flow
