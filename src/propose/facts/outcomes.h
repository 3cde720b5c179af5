// Findings of a search's trials (record/diagnosis/finding.h), and what became of those that were acted on.
#pragma once

#include <string>
#include <vector>

#include "record/trial.h"
#include "search/tree.h"

namespace solstice::propose {

// A trial whose program has the action of a finding of the candidate that it was derived from.
struct ActedOn {
  int node = 0;
  TrialState state = TrialState::kVerified;
  double gain = 0;   // log2 of the program's time before over that after; 0 where it failed
  bool hit = false;  // a gain beyond noise (search/gain.h)
};

struct FindingOutcome {
  std::string tool;
  std::string limited = {};  // class of the kernel, by stage 1; "" where the record does not say
  std::string machine = {};  // left to the caller
  int node = 0;              // that it was found in
  double bound = 1;          // speedup of the whole program, at most
  std::vector<ActedOn> acted = {};
};

// Of every finding in a measured trial. Predicted times say nothing, nor does a trial that the GPU had no room for. A
// record that is damaged has no findings.
std::vector<FindingOutcome> outcomes_of(const search::Tree& tree);

}  // namespace solstice::propose
