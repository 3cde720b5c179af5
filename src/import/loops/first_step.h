// The first step of a loop that starts from a number (`h = torch.zeros(..)`) or from a part of a tensor (`h = x[:, 0]`)
// has that in its equations where later steps read the step before.
#pragma once

#include "import/loops/unrolled.h"

namespace solstice::importer {

// Takes the items before the loop as one more step, where they are one but for such terms. True: they are.
bool take_first_step(const Draft& draft, const std::vector<LoopItem>& items, const Writers& writers, Unrolled& loop);

}  // namespace solstice::importer
