// Online reductions (Milakov and Gimelshein, arXiv:1805.02867): rows that are only reduced, where one result needs
// another (logsumexp, mean and variance), in a single pass. A thread accumulates around a center of its own, rescales
// when the center moves and corrects its sums when the row's center is known (reduction/online.h). Nothing of the row
// stays on chip, so loads continue while threads compute.
#pragma once

#include "families/reduction/shape.h"
#include "families/rows/kernel_text.h"
#include "families/rows/settings.h"

namespace solstice::families::rows {

// The kernel of `residency=once`.
Result<KernelText> emit_online(const ir::Program& program, const ir::Kernel& kernel, Shape& shape,
                               const Settings& settings);

}  // namespace solstice::families::rows
