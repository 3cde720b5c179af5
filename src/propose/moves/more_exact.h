// The step to other arithmetic after results that were wrong: schedules of one `math` mostly share their errors, so
// another tile does not help where one of them missed a limit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "propose/moves/moves.h"

namespace solstice::propose {

// The knob `math` of a schedule, "" where it has none.
std::string math_of(const Schedule& schedule);
// The same of its text, as Proposal::settings has it: "gemm1 gemm(math=fp16x3, tile=..)".
std::string math_in(const std::string& setting);

// `from` with other arithmetic in each group of kernels whose `math` candidates of `tried` had that were wrong: the
// first option, by the cost models, of arithmetic of which that cannot be said. A trial that was right clears its
// arithmetic, unless a precise measurement was wrong. Groups without such an option keep theirs; nothing where all do.
// `groups` is alike(axes).
std::optional<Choice> more_exact(const std::vector<Axis>& axes, const Alike& groups, const Choice& from,
                                 const std::vector<Tried>& tried);

}  // namespace solstice::propose
