// Does a candidate still compute its problem? Asked on the equations before anything is compiled. A candidate that is
// refuted goes no further; the other verdicts are recorded, and the device alone accepts.
#pragma once

#include <map>
#include <set>
#include <string>

#include "base/units.h"
#include "ir/equivalence.h"
#include "lang/tree.h"

namespace solstice::evaluate {

// ir::same_meaning(), and where that refutes programs without f64, the same with numbers as f32 holds them: PyTorch's
// operators take the numbers of an f32 module so (1e-5 is 9.99999975e-6), and so do kernels, but a program may write
// them as they are meant. Then `reason` says so.
ir::Equivalence same_equations(const lang::Program& problem, const lang::Program& candidate,
                               const ir::EquivalenceOptions& options = {});

class Meaning {
 public:
  explicit Meaning(lang::Program problem, Seconds budget = Seconds(0.1));

  // Candidates that differ in their schedules alone share one verdict.
  const ir::Equivalence& of(const lang::Program& candidate);

  // The problem's `allow` clauses: a candidate may add nothing but `frozen`, which is the run's.
  const std::set<std::string>& allowed() const { return allowed_; }

 private:
  lang::Program problem_;
  Seconds budget_;
  std::set<std::string> allowed_;
  std::map<std::string, ir::Equivalence> known_;  // by the equations' text
};

}  // namespace solstice::evaluate
