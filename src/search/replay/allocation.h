// Recorded searches of several problems under one budget: the scheduler (scheduler.h) gives each next trial to one of
// them, which takes the next of its recorded ones. With it the fixed split, which gives every problem the same, and
// the best that anyone could have done who had known the records.
#pragma once

#include <string>
#include <vector>

#include "search/replay/stopping.h"
#include "search/turns.h"

namespace solstice::search {

// Trials that each search gets, by its place.
using Allocation = std::vector<size_t>;

// Each the same share of the budget.
Allocation fixed_split(const std::vector<const Sequence*>& searches, const TotalBudget& budget);
// `currency`: of the scheduler's costs.
Allocation scheduled(const std::vector<const Sequence*>& searches, const TotalBudget& budget, const Values& values,
                     Currency currency);
// The most speedup (geometric mean) that so many trials can have, by as few of them as that takes. Knows no budget of
// seconds.
Allocation hindsight_split(const std::vector<const Sequence*>& searches, std::optional<int> trials);

}  // namespace solstice::search
