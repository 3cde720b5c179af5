// Does a candidate still compute its problem? Asked on the equations before anything is compiled. A candidate that is
// refuted goes no further; the other verdicts are recorded, and the device alone accepts.
#pragma once

#include <map>
#include <string>

#include "base/units.h"
#include "ir/equivalence.h"
#include "lang/tree.h"

namespace solstice::evaluate {

class Meaning {
 public:
  explicit Meaning(lang::Program problem, Seconds budget = Seconds(0.1)) : problem_(std::move(problem)), budget_(budget) {}

  // Candidates that differ in their schedules alone share one verdict.
  const ir::Equivalence& of(const lang::Program& candidate);

 private:
  lang::Program problem_;
  Seconds budget_;
  std::map<std::string, ir::Equivalence> known_;  // by the equations' text
};

}  // namespace solstice::evaluate
