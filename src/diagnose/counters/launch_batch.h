// Launches that one process of ncu reads, and which row of its report is which of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/counters/ncu_pages.h"
#include "record/plan.h"

namespace solstice::diagnose {

// The launches of a plan as they run where it is prepared and run once: those of the preparation, then those of a call.
std::vector<const Step*> launches_of(const Plan& plan);

// Consecutive launches of some kernels. ncu counts those that its filter of names lets through, so it is told how many
// of these to skip and how many to read.
struct LaunchBatch {
  std::vector<const Step*> launches;  // in order: those that are wanted, and those of the same kernels between them
  std::vector<const Step*> wanted;
  int skip = 0;  // launches of these kernels before the first
};

// As many of `wanted` as fit `most` launches, one at least: the first, and of the others, in order, each that does not
// need more. Pointers are into the plan.
LaunchBatch batch_of(const Plan& plan, const std::vector<const Step*>& wanted, size_t most);

// ncu's filter of names: the symbol of one kernel, or "regex:^(a|b)$".
std::string name_filter(const LaunchBatch& batch);

// By launch of the batch, the row that it is. A report of as many rows, each of the right kernel, grid and block, is in
// order; of another report only what is the one row and the one launch of its kernel, grid and block.
std::vector<std::optional<size_t>> rows_of(const LaunchBatch& batch, const std::vector<RawLaunch>& rows);

}  // namespace solstice::diagnose
