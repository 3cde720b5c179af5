#include "import/draft/value.h"

#include <algorithm>
#include <set>
#include <utility>

#include "import/graph/damage.h"

namespace solstice::importer {

const Axis& Value::axis(int i) const {
  if (i < 0 || i >= rank()) damaged("an operand of too low a rank");
  return axes[static_cast<size_t>(i)];
}

int64_t Axis::extent() const {
  int64_t out = 1;
  for (const Loop& digit : digits) out = product_of(out, digit.extent);
  return out;
}

bool Value::is_empty() const {
  return std::any_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.extent() == 0; });
}

Loop Loops::fresh(DimId dim, std::string hint) { return {next_++, dim, dims_.value(dim), std::move(hint)}; }

Loop Loops::window(int64_t extent, std::string hint) { return fresh(dims_.literal(extent), std::move(hint)); }

Axis Loops::fresh_axis(int64_t extent) { return extent == 1 ? Axis{} : axis_of(dims_.fresh(extent)); }

Axis Loops::axis_of(DimId dim, std::string hint) {
  if (dims_.value(dim) == 1) return {};
  return {{fresh(dim, std::move(hint))}};
}

Size Loops::size(const Axis& axis) const {
  Size out(1);
  for (const Loop& digit : axis.digits) out = out * dims_.size(digit.dim);
  return out;
}

Index Loops::flat(const Axis& axis) const {
  Index out(0);
  Size stride(1);
  for (auto digit = axis.digits.rbegin(); digit != axis.digits.rend(); ++digit) {
    out = scale(index_of(*digit), stride) + out;
    stride = stride * dims_.size(digit->dim);
  }
  return out;
}

void Loops::place(const Axis& axis, const Index& at, Substitution& out) const {
  Size stride(1);
  for (size_t i = axis.digits.size(); i-- > 0;) {
    const Loop& digit = axis.digits[i];
    const Size extent = dims_.size(digit.dim);
    Index position = floor_div(at, stride, dims_);
    out[digit.id] = i == 0 ? position : modulo(position, extent, dims_);
    stride = stride * extent;
  }
}

namespace {

// The places where digits meet, as products of the extents to their right: {1, 96, 768} for the digits 8, 96.
std::vector<int64_t> cuts_of(const std::vector<int64_t>& extents) {
  std::vector<int64_t> cuts{1};
  for (size_t i = extents.size(); i-- > 0;) {
    if (extents[i] != 1) cuts.push_back(product_of(cuts.back(), extents[i]));
  }
  return cuts;
}

std::vector<int64_t> extents_of(const std::vector<Axis>& axes) {
  std::vector<int64_t> out;
  for (const Axis& axis : axes) {
    for (const Loop& digit : axis.digits) out.push_back(digit.extent);
  }
  return out;
}

std::vector<Loop> digits_of(const std::vector<Axis>& axes) {
  std::vector<Loop> out;
  for (const Axis& axis : axes) out.insert(out.end(), axis.digits.begin(), axis.digits.end());
  return out;
}

bool is_chain(const std::set<int64_t>& cuts) {
  int64_t last = 1;
  for (const int64_t cut : cuts) {
    if (last == 0 || cut % last != 0) return false;
    last = cut;
  }
  return true;
}

// Digits given by their cuts, and the dim of each where one is known.
struct Cutting {
  std::vector<int64_t> cuts;  // ascending, from 1
  std::vector<DimId> dims;    // dims[i] lies between cuts[i] and cuts[i+1]; -1: none yet
};

Cutting cutting_of(const std::vector<Loop>& digits) {
  Cutting out{{1}, {}};
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    out.cuts.push_back(product_of(out.cuts.back(), digit->extent));
    out.dims.push_back(digit->dim);
  }
  return out;
}

// The dims of the fine digits [first, last), outermost first, as an earlier cut of the same extent knows them.
void reuse_split(DimId whole, Cutting& fine, size_t first, size_t last, Dims& dims) {
  const std::vector<DimId> known = dims.split(whole);
  if (known.size() != last - first) return;
  for (size_t k = 0; k < known.size(); ++k) {
    if (dims.value(known[k]) != fine.cuts[last - k] / fine.cuts[last - k - 1]) return;
  }
  for (size_t k = 0; k < known.size(); ++k) {
    DimId& dim = fine.dims[last - k - 1];
    if (dim < 0) {
      dim = known[k];
    } else {
      dims.unify(dim, known[k]);
    }
  }
}

// Joins what coincides in both and states products for what is refined.
void relate(const Cutting& coarse, Cutting& fine, Dims& dims) {
  for (size_t i = 0; i + 1 < coarse.cuts.size(); ++i) {
    const auto low = std::find(fine.cuts.begin(), fine.cuts.end(), coarse.cuts[i]);
    const auto high = std::find(fine.cuts.begin(), fine.cuts.end(), coarse.cuts[i + 1]);
    if (low == fine.cuts.end() || high == fine.cuts.end()) continue;
    const size_t first = static_cast<size_t>(low - fine.cuts.begin());
    const size_t last = static_cast<size_t>(high - fine.cuts.begin());
    if (last == first + 1) {
      if (fine.dims[first] < 0) {
        fine.dims[first] = coarse.dims[i];
      } else {
        dims.unify(fine.dims[first], coarse.dims[i]);
      }
      continue;
    }
    reuse_split(coarse.dims[i], fine, first, last, dims);
    Size product(1);
    std::vector<DimId> parts;
    for (size_t k = last; k-- > first;) {
      if (fine.dims[k] < 0) fine.dims[k] = dims.fresh(fine.cuts[k + 1] / fine.cuts[k]);
      product = product * dims.size(fine.dims[k]);
      parts.push_back(fine.dims[k]);
    }
    dims.set_split(coarse.dims[i], parts);
    dims.derive(coarse.dims[i], {product, 1, 0});
  }
}

}  // namespace

Axis Loops::align(const std::vector<const Axis*>& axes) {
  std::set<int64_t> all;
  std::vector<Cutting> operands;
  for (const Axis* axis : axes) {
    operands.push_back(cutting_of(axis->digits));
    all.insert(operands.back().cuts.begin(), operands.back().cuts.end());
  }
  for (const Cutting& operand : operands) {
    if (operand.cuts.back() != operands.front().cuts.back()) damaged("operands whose extents differ");
  }
  Axis out;
  if (!is_chain(all)) {
    for (const Loop& digit : axes.front()->digits) out.digits.push_back(fresh(digit.dim));
    return out;
  }
  Cutting fine{{all.begin(), all.end()}, std::vector<DimId>(all.size() - 1, -1)};
  // Coinciding digits first, so that products are stated over known dims.
  std::stable_sort(operands.begin(), operands.end(),
                   [](const Cutting& a, const Cutting& b) { return a.cuts.size() > b.cuts.size(); });
  for (const Cutting& operand : operands) relate(operand, fine, dims_);
  for (size_t i = fine.dims.size(); i-- > 0;) {
    if (fine.dims[i] < 0) fine.dims[i] = dims_.fresh(fine.cuts[i + 1] / fine.cuts[i]);
    out.digits.push_back(fresh(fine.dims[i]));
  }
  return out;
}

std::vector<Axis> Loops::reshape(const std::vector<Axis>& axes, const std::vector<int64_t>& shape, Substitution& old) {
  const std::vector<Loop> digits = digits_of(axes);
  const std::vector<int64_t> before = cuts_of(extents_of(axes));
  const std::vector<int64_t> after = cuts_of(shape);
  if (before.back() < 1 || before.back() != after.back()) damaged("a view of other than all elements");
  // Between two common cuts, the old cuts are kept as well where that refines; elsewhere only the new ones.
  std::set<int64_t> cuts(after.begin(), after.end());
  int64_t low = 1;
  for (const int64_t high : after) {
    if (std::find(before.begin(), before.end(), high) == before.end()) continue;
    std::set<int64_t> segment;
    for (const auto* list : {&before, &after}) {
      std::copy_if(list->begin(), list->end(), std::inserter(segment, segment.end()),
                   [&](int64_t cut) { return cut >= low && cut <= high; });
    }
    if (is_chain(segment)) cuts.insert(segment.begin(), segment.end());
    low = high;
  }
  Cutting fine{{cuts.begin(), cuts.end()}, std::vector<DimId>(cuts.size() - 1, -1)};
  relate(cutting_of(digits), fine, dims_);
  std::vector<Axis> out;
  size_t next = fine.dims.size();
  for (const int64_t extent : shape) {
    Axis axis;
    while (axis.extent() < extent) {
      --next;
      if (fine.dims[next] < 0) fine.dims[next] = dims_.fresh(fine.cuts[next + 1] / fine.cuts[next]);
      axis.digits.push_back(fresh(fine.dims[next]));
    }
    out.push_back(std::move(axis));
  }
  place({digits}, flat({digits_of(out)}), old);
  return out;
}

void lift(Value& value, size_t rank) {
  if (value.axes.size() > rank) damaged("an operand of too high a rank");
  value.axes.insert(value.axes.begin(), rank - value.axes.size(), Axis{});
}

TermRef read_at(const Value& value, const std::vector<Index>& at, const Loops& loops) {
  if (at.size() != value.axes.size()) damaged("an operand of another rank");
  Substitution by;
  for (size_t i = 0; i < at.size(); ++i) loops.place(value.axes[i], at[i], by);
  return substitute(value.term, by, loops.dims());
}

}  // namespace solstice::importer
