#include "ir/count/factoring.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace solstice::ir {
namespace {

// With those of the result that give a summed one its value.
IndexSet with_solutions(const IndexSet& indices, const IndexSet& summed, const Domain& domain) {
  IndexSet out = indices;
  for (const int index : indices) {
    if (summed.count(index)) out = united(out, domain.solved_by(index, summed));
  }
  return out;
}

Operand solved(const Operand& operand, const IndexSet& summed, const Domain& domain) {
  return {without(with_solutions(operand.all, summed, domain), summed),
          without(with_solutions(operand.direct, summed, domain), summed)};
}

// An index is summed as soon as no other factor has it, and no condition ties it to an index that the partial product
// lacks: until then its points are not known. Sets of factors are bit masks.
class Factoring {
 public:
  Factoring(const std::vector<ExprRef>& factors, const IndexSet& binders, const Domain& domain)
      : domain_(domain), binders_(binders), sets_(size_t{1} << factors.size()) {
    for (size_t set = 1; set < sets_.size(); ++set) describe(set, factors);
    for (size_t set = 1; set < sets_.size(); ++set) split(set);
  }

  Work work() const {
    Work out;
    add(sets_.size() - 1, out);
    return out;
  }

 private:
  struct Set {
    IndexSet indices;  // of the partial product, its own sums done
    IndexSet direct;
    double cost = std::numeric_limits<double>::infinity();
    size_t part = 0;  // the best tree multiplies this subset with the rest; 0: a single factor
  };

  void describe(size_t set, const std::vector<ExprRef>& factors) {
    IndexSet in, direct, elsewhere;
    for (size_t i = 0; i < factors.size(); ++i) {
      const IndexSet own = indices_of(factors[i]);
      IndexSet& where = set >> i & 1 ? in : elsewhere;
      where = united(where, own);
      if (set >> i & 1) direct = united(direct, direct_indices(factors[i]));
    }
    IndexSet summed = without(binders_, elsewhere);
    const bool whole = set + 1 == sets_.size();
    for (auto i = summed.begin(); !whole && i != summed.end();)
      i = without(domain_.tied(*i), in).empty() ? std::next(i) : summed.erase(i);
    sets_[set].indices = without(in, summed);
    sets_[set].direct = without(direct, summed);
    const bool single = (set & (set - 1)) == 0;
    if (single) sets_[set].cost = sets_[set].indices.size() < in.size() ? points_within(in, binders_, domain_) : 0;
  }

  double points(size_t a, size_t b) const {
    return points_within(united(sets_[a].indices, sets_[b].indices), binders_, domain_);
  }

  void split(size_t set) {
    for (size_t part = (set - 1) & set; part > 0; part = (part - 1) & set) {
      const size_t rest = set ^ part;
      if (part < rest) continue;
      const double cost = sets_[part].cost + sets_[rest].cost + points(part, rest);
      if (cost < sets_[set].cost) sets_[set].cost = cost, sets_[set].part = part;
    }
  }

  void add(size_t set, Work& out) const {
    const size_t part = sets_[set].part;
    if (part == 0) {
      out.simt += sets_[set].cost;
      return;
    }
    const size_t rest = set ^ part;
    const auto operand = [&](size_t side) {
      const IndexSet summed = without(united(sets_[part].indices, sets_[rest].indices), sets_[set].indices);
      return solved(Operand{sets_[side].indices, sets_[side].direct}, summed, domain_);
    };
    (is_contraction(operand(part), operand(rest)) ? out.contraction : out.simt) += points(part, rest);
    add(part, out);
    add(rest, out);
  }

  const Domain& domain_;
  const IndexSet& binders_;
  std::vector<Set> sets_;
};

}  // namespace

Operand operand_of(const ExprRef& factor, const IndexSet& binders, const Domain& domain) {
  return solved(Operand{indices_of(factor), direct_indices(factor)}, binders, domain);
}

double points_within(const IndexSet& indices, const IndexSet& binders, const Domain& domain) {
  const IndexSet all = with_solutions(indices, binders, domain);
  const double points = domain.points(indices);
  return all.size() == indices.size() ? points : std::min(points, domain.points(all));
}

Work product_work(const std::vector<ExprRef>& factors, const IndexSet& binders, const Domain& domain) {
  return Factoring(factors, binders, domain).work();
}

}  // namespace solstice::ir
