// The problem cut into kernels, as it is and as rewrites make it, with the proposer that varies the schedules.
#pragma once

#include <memory>

#include "flow/run/stages/prepare/bounds.h"
#include "propose/expert.h"

namespace solstice::flow {

struct Planned {
  std::shared_ptr<const ir::Program> scheduled;  // the partition that is predicted to be fastest, applied
  std::unique_ptr<propose::Expert> expert;
  Seconds took{0};  // of the run's budget
};

// Lowers `bounds` by the rewritten equations. Errors: those of propose::plan() for the equations as they are.
Result<Planned> plan_kernels(Run& run, const Opened& opened, const Imported& imported, Bounds& bounds);

// The candidate that a search begins with where no earlier run is known: the cost models' first choice; "" where there
// is none. `time`: the budget, of which planning takes a part. Errors: as plan_kernels().
Result<std::string> first_choice(const CandidateTerms& terms, const machine::Machine& machine, const Problem& problem,
                                 Seconds time);

// Lowers the bounds as planning does, for a run that only measures.
Status bound_rewritten(Run& run, const Opened& opened, const Imported& imported, Bounds& bounds);

}  // namespace solstice::flow
