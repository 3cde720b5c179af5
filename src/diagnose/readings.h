// Sources that were read in part: which launches a tool cannot tell of, and what its evidence has to say of launches
// that were read in another way than the rest.
#pragma once

#include <vector>

#include "diagnose/open_question.h"
#include "diagnose/tool.h"

namespace solstice::diagnose {

// What the tool asks of a kernel and no source answers, by reason. Sources that are not there at all are not among
// them.
std::vector<OpenQuestion> open_steps(const Tool& tool, const KernelView& view);

// Evidence of counters names the launch that was read, where another one alike was, and that caches were empty, where
// the tool goes by traffic with DRAM and a call has filled L2; the latter is of medium confidence at most.
void say_how_read(const Tool& tool, const KernelView& view, Finding& finding);

}  // namespace solstice::diagnose
