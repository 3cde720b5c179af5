// Counsel of a candidate's findings (record/diagnosis/finding.h) on the moves from it. It orders them; it takes none
// away, and says nothing of what is legal or what is faster.
#pragma once

#include <string>
#include <vector>

#include "propose/moves/moves.h"
#include "record/diagnosis/finding.h"
#include "search/tool_sums.h"

namespace solstice::propose {

// Findings that a proposer hears.
struct Hearing {
  bool findings = true;              // false: none
  search::ToolWeights weights = {};  // of tools, by what their advice came to in other searches
};

struct Counsel {
  FindingAction action;
  std::string tool;
  double bound = 1;    // speedup of the whole program, at most
  double promise = 0;  // log2 of it, times the finding's confidence (1, 1/2, 1/4) and the tool's weight

  std::string text() const;  // ", as `narrow loads` advises: at most 1.8x"
};

// Actions that are moves and promise more than noise, those that promise most first. None where the candidate's record
// has no findings, or damaged ones.
std::vector<Counsel> counsel_of(const search::Node& candidate, const Hearing& hearing);

// The option has what the action changes.
bool takes(const Schedule& option, const FindingAction& action);

// For each action that changes knobs, and was not tried from here, the move with it that changes least besides goes to
// the front, by its promise among those that memory expects to gain; not where memory expects it to lose. Its
// `promised` and `advised` are set. What was tried elsewhere stays where it is.
void put_advised_first(std::vector<Move>& moves, const Formulation& formulation, const Choice& from,
                       const std::vector<Counsel>& counsel, const std::vector<Tried>& tried, const Worth& worth);

}  // namespace solstice::propose
