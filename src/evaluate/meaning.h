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
