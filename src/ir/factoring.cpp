#include "ir/factoring.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace solstice::ir {
namespace {

IndexSet direct_indices(const ExprRef& e) {
  if (e->op != Op::kRead) {
    IndexSet out;
    if (e->op == Op::kIndex) out.insert(e->id);
    for (const ExprRef& arg : e->args) out = united(out, direct_indices(arg));
    return out;
  }
  IndexSet out;
  for (const ExprRef& arg : e->args) {
    bool gathers = false;
    walk(arg, [&](const Expr& node) { gathers = gathers || node.op == Op::kRead; });
    if (!gathers) out = united(out, indices_of(arg));
  }
  return out;
}

// An index is summed as soon as no other factor has it, and no condition ties it to an index that the partial product
// lacks: until then its points are not known. Sets of factors are bit masks.
class Factoring {
 public:
  Factoring(const std::vector<ExprRef>& factors, const IndexSet& binders, const Domain& domain)
      : domain_(domain), sets_(size_t{1} << factors.size()) {
    for (size_t set = 1; set < sets_.size(); ++set) describe(set, factors, binders);
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

  void describe(size_t set, const std::vector<ExprRef>& factors, const IndexSet& binders) {
    IndexSet in, direct, elsewhere;
    for (size_t i = 0; i < factors.size(); ++i) {
      const IndexSet own = indices_of(factors[i]);
      IndexSet& where = set >> i & 1 ? in : elsewhere;
      where = united(where, own);
      if (set >> i & 1) direct = united(direct, direct_indices(factors[i]));
    }
    IndexSet summed = without(binders, elsewhere);
    const bool whole = set + 1 == sets_.size();
    for (auto i = summed.begin(); !whole && i != summed.end();) i = without(domain_.tied(*i), in).empty() ? std::next(i) : summed.erase(i);
    sets_[set].indices = without(in, summed);
    sets_[set].direct = without(direct, summed);
    const bool single = (set & (set - 1)) == 0;
    if (single) sets_[set].cost = sets_[set].indices.size() < in.size() ? domain_.points(in) : 0;
  }

  double points(size_t a, size_t b) const { return domain_.points(united(sets_[a].indices, sets_[b].indices)); }

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
      return Operand{without(sets_[side].indices, summed), without(sets_[side].direct, summed)};
    };
    (is_contraction(operand(part), operand(rest)) ? out.contraction : out.simt) += points(part, rest);
    add(part, out);
    add(rest, out);
  }

  const Domain& domain_;
  std::vector<Set> sets_;
};

}  // namespace

IndexSet united(const IndexSet& a, const IndexSet& b) {
  IndexSet out = a;
  out.insert(b.begin(), b.end());
  return out;
}

IndexSet without(const IndexSet& a, const IndexSet& b) {
  IndexSet out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(out, out.end()));
  return out;
}

Operand operand_of(const ExprRef& factor, const IndexSet& binders) {
  return {without(indices_of(factor), binders), without(direct_indices(factor), binders)};
}

bool is_contraction(const Operand& a, const Operand& b) { return !without(a.all, b.direct).empty() && !without(b.all, a.direct).empty(); }

Work product_work(const std::vector<ExprRef>& factors, const IndexSet& binders, const Domain& domain) {
  return Factoring(factors, binders, domain).work();
}

}  // namespace solstice::ir
