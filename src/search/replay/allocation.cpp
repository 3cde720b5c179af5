#include "search/replay/allocation.h"

#include <algorithm>
#include <cmath>

namespace solstice::search {
namespace {

// The most log-speedup that the first searches have with n trials or fewer, and how many of them the last one takes.
struct Cell {
  double most = 0;
  size_t taken = 0;
};

std::vector<Cell> with_one_more(const std::vector<Cell>& before, const Sequence& search, size_t useful) {
  std::vector<Cell> out(before.size());
  for (size_t n = 0; n < out.size(); ++n) {
    out[n] = {before[n].most + std::log(search.points[0].speedup), 0};
    for (size_t k = 1; k <= std::min(n, useful); ++k) {
      const double sum = before[n - k].most + std::log(search.points[k].speedup);
      if (sum > out[n].most + 1e-12) out[n] = {sum, k};
    }
  }
  return out;
}

}  // namespace

Allocation fixed_split(const std::vector<const Sequence*>& searches, const TotalBudget& budget) {
  Allocation out;
  const TotalBudget share = share_of(budget, searches.size());
  for (const Sequence* search : searches) out.push_back(stop_of(*search, {.budget = share}));
  return out;
}

Allocation scheduled(const std::vector<const Sequence*>& searches, const TotalBudget& budget, const Values& values,
                     Currency currency) {
  Turns turns(Schedule{values}, budget, currency);
  for (const Sequence* search : searches) {
    const size_t place = turns.add(search->original, search->bound);
    if (search->trials() == 0) turns.close(place);
  }
  Allocation out(searches.size(), 0);
  while (const std::optional<Turn> turn = turns.next()) {
    const Sequence& search = *searches[turn->problem];
    size_t& at = out[turn->problem];
    const Point &before = search.points[at], &now = search.points[++at];
    turns.landed(turn->problem, now.spent - before.spent, now.best);
    if (at == search.trials()) turns.close(turn->problem);
  }
  return out;
}

Allocation hindsight_split(const std::vector<const Sequence*>& searches, std::optional<int> trials) {
  Allocation useful;
  size_t all = 0;
  for (const Sequence* search : searches) all += useful.emplace_back(hindsight_stop(*search));
  if (!trials || static_cast<size_t>(*trials) >= all) return useful;
  std::vector<std::vector<Cell>> tables = {std::vector<Cell>(static_cast<size_t>(*trials) + 1)};
  for (size_t i = 0; i < searches.size(); ++i) tables.push_back(with_one_more(tables.back(), *searches[i], useful[i]));
  // Back from the fewest trials that have the most.
  size_t left = static_cast<size_t>(*trials);
  while (left > 0 && tables.back()[left - 1].most > tables.back()[left].most - 1e-12) --left;
  Allocation out(searches.size(), 0);
  for (size_t i = searches.size(); i-- > 0;) {
    out[i] = tables[i + 1][left].taken;
    left -= out[i];
  }
  return out;
}

}  // namespace solstice::search
