// Results of earlier runs that order a search. No such figure ever becomes a result.
#pragma once

#include <memory>
#include <vector>

#include "flow/run/stages/prepare/open.h"
#include "flow/run/state/run.h"
#include "propose/expert.h"
#include "search/memory.h"
#include "search/tool_sums.h"

namespace solstice::flow {

// Measurements of the same problem with the same program on the same machine, driver and build of Solstice, and of a
// part of the module that is equal to this one.
std::vector<propose::Known> known_candidates(Run& run, const Opened& opened);

struct Recalled {
  std::shared_ptr<const search::Memory> memory = nullptr;
  search::ToolWeights tools = {};  // by what their advice came to
};

// Facts of other problems that this run's search goes by: those that were there when it began, also where it goes on
// later. Nothing where memory is off, where there are none of this machine, or where times are predicted. That they
// cannot be read is a warning.
Recalled recalled_facts(Run& run, const Opened& opened);

}  // namespace solstice::flow
