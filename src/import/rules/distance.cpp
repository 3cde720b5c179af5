// Norms of differences, angles between rows, and the losses made of them.
#include <limits>

#include "import/rules.h"
#include "import/rules/index.h"
#include "import/rules/loss.h"

namespace solstice::importer {
namespace {

// Rows of operands that broadcast, along one axis.
struct Pairs {
  Axes kept;
  std::vector<Loop> row;
  std::vector<TermRef> element;  // of each operand
};

Result<Pairs> pairs_of(Call& call, const Operands& operands, int axis) {
  SOLSTICE_TRY(const Broadcast shape, broadcast(call, operands));
  Pairs out;
  const int rank = static_cast<int>(shape.axes.size());
  const int along = axis < 0 ? axis + rank : axis;
  if (along < 0 || along >= rank) return call.unsupported("operands without such an axis");
  out.kept = shape.axes;
  out.row = out.kept[static_cast<size_t>(along)].digits;
  out.kept.erase_at(along);
  for (size_t i = 0; i < operands.size(); ++i) out.element.push_back(read_at(operands[i], shape.at[i], call.loops()));
  return out;
}

struct Angle {
  Value dot, xx, yy;
};

Angle angle_of(Call& call, const Pairs& p, DType dtype) {
  const auto sum = [&](const char* wish, const TermRef& x) {
    return call.draft().define(wish, p.kept, reduce("sum", p.row, x), dtype);
  };
  const TermRef &x = p.element[0], &y = p.element[1];
  return {sum("dot", x * y), sum("xx", squared(x)), sum("yy", squared(y))};
}

// Cosine of the angle between rows: squared norms are clamped at eps**2.
Status cosine_similarity(Call& call) {
  SOLSTICE_TRY(const Value a, call.tensor("x1"));
  SOLSTICE_TRY(const Value b, call.tensor("x2"));
  SOLSTICE_TRY(const double eps, call.number("eps"));
  SOLSTICE_TRY(const int64_t axis, call.integer("dim"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const Pairs p, pairs_of(call, {a, b}, static_cast<int>(axis)));
  const Angle angle = angle_of(call, p, dtype);
  const auto clamped = [&](const Value& v) { return apply("max", {v.term, real(eps * eps)}); };
  const TermRef cosine = angle.dot.term * apply("rsqrt", {clamped(angle.xx)}) * apply("rsqrt", {clamped(angle.yy)});
  return call.yield(call.draft().define(call.wish("cosine"), p.kept, cosine, dtype));
}

// 1 - cos where the target is 1, max(0, cos - margin) where it is -1; 1e-12 is added to each squared norm.
Status cosine_embedding(Call& call) {
  constexpr double kEps = 1e-12;
  SOLSTICE_TRY(const Value a, call.tensor("input1"));
  SOLSTICE_TRY(const Value b, call.tensor("input2"));
  SOLSTICE_TRY(const Value target, call.tensor("target"));
  SOLSTICE_TRY(const double margin, call.number("margin"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const Pairs p, pairs_of(call, {a, b}, target.rank()));
  const Angle angle = angle_of(call, p, dtype);
  const TermRef norms = apply("sqrt", {(angle.xx.term + real(kEps)) * (angle.yy.term + real(kEps))});
  const Value cosine = call.draft().define("cosine", p.kept, angle.dot.term / norms, dtype);
  SOLSTICE_TRY(const Broadcast shape, broadcast(call, {cosine, target}));
  const TermRef c = read_at(cosine, shape.at[0], call.loops()), t = read_at(target, shape.at[1], call.loops());
  const TermRef apart = select(binary("==", t, integer(-1)), apply("max", {integer(0), c - real(margin)}), integer(0));
  return yield_loss(call, shape.axes, select(binary("==", t, integer(1)), integer(1) - c, apart));
}

// Rows of the named operands, and the distance |a - b + eps| of two of them: eps is added to the difference of each
// element.
struct Distances {
  Pairs rows;
  double order = 2, eps = 0;
  DType dtype = DType::kF32;

  TermRef between(size_t i, size_t j) const {
    return norm_of(order, rows.row, rows.element[i] - rows.element[j] + real(eps));
  }
};

Result<Distances> distances_of(Call& call, const std::vector<const char*>& names) {
  Operands operands;
  for (const char* name : names) {
    SOLSTICE_TRY(Value operand, call.tensor(name));
    operands.push_back(std::move(operand));
  }
  Distances out;
  SOLSTICE_TRY(out.order, call.number("p"));
  SOLSTICE_TRY(out.eps, call.number("eps"));
  SOLSTICE_TRY(out.dtype, call.out_dtype());
  SOLSTICE_TRY(out.rows, pairs_of(call, operands, -1));
  return out;
}

// max(0, margin + |a-p+eps| - |a-n+eps|). With `swap` the negative's distance is the smaller of those to anchor and
// positive.
Status triplet_margin(Call& call) {
  SOLSTICE_TRY(const Distances d, distances_of(call, {"anchor", "positive", "negative"}));
  SOLSTICE_TRY(const double margin, call.number("margin"));
  SOLSTICE_TRY(const bool swap, call.flag("swap"));
  const auto distance = [&](const char* wish, size_t i, size_t j) {
    return call.draft().define(wish, d.rows.kept, d.between(i, j), d.dtype).term;
  };
  const TermRef near = distance("dp", 0, 1);
  TermRef far = distance("dn", 0, 2);
  if (swap) far = apply("min", {far, distance("ds", 1, 2)});
  return yield_loss(call, d.rows.kept, apply("max", {integer(0), real(margin) + near - far}));
}

// |a - b + eps| along the last axis
Status pairwise_distance(Call& call) {
  SOLSTICE_TRY(Distances d, distances_of(call, {"x1", "x2"}));
  SOLSTICE_TRY(const bool keepdim, call.flag("keepdim"));
  const TermRef norm = d.between(0, 1);
  if (keepdim) d.rows.kept.push_back({});
  return call.yield(call.draft().define(call.wish(), d.rows.kept, norm, d.dtype));
}

// d[.., i, j] = |a[.., i] - b[.., j]|
Status cdist(Call& call) {
  SOLSTICE_TRY(Value a, call.tensor("x1"));
  SOLSTICE_TRY(Value b, call.tensor("x2"));
  SOLSTICE_TRY(const double order, call.number("p"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  a.axes.insert(a.axes.end() - 1, Axis{});
  b.axes.insert(b.axes.end() - 2, Axis{});
  SOLSTICE_TRY(const Pairs rows, pairs_of(call, {a, b}, -1));
  return call.yield(
      call.draft().define(call.wish(), rows.kept, norm_of(order, rows.row, rows.element[0] - rows.element[1]), dtype));
}

// Distances between the rows of one matrix, those of row 0 first:
//   i[k] = sum[r](select(start(r) <= k, 1, 0)) - 1, start(r) = r*(2*N-1-r)//2; j[k] = k - start(i[k]) + i[k] + 1
Status pdist(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const double order, call.number("p"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  const Axis pair = call.loops().fresh_axis(call.out_extent(0)), rows = call.loops().fresh_axis(x.extent(0) - 1);
  const TermRef ends = size_value(call.loops().size(x.axis(0)) * Size(2) - Size(1));
  const auto start = [&](const TermRef& row) { return binary("//", row * (ends - row), integer(2)); };
  const Index k = call.loops().flat(pair);
  const TermRef begun = binary("<=", start(index_value(call.loops().flat(rows))), index_value(k));
  const TermRef count = reduce("sum", rows.digits, select(begun, integer(1), integer(0)));
  const Value first = call.draft().define("first", {pair}, count - integer(1), DType::kI64);
  const TermRef row = read_at(first, {k}, call.loops());
  const Value second =
      call.draft().define("second", {pair}, index_value(k) - start(row) + row + integer(1), DType::kI64);
  const Axis along = call.loops().align(x.axis(1));
  const auto element = [&](const Value& at) {
    const Index own = index_at(call, read_at(at, {k}, call.loops()), x.axis(0));
    return read_at(x, {own, call.loops().flat(along)}, call.loops());
  };
  const TermRef norm = norm_of(order, along.digits, element(first) - element(second));
  return call.yield(call.draft().define(call.wish(), {pair}, norm, dtype));
}

}  // namespace

TermRef norm_of(double order, const std::vector<Loop>& row, const TermRef& x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (order == 2) return apply("sqrt", {reduce("sum", row, squared(x))});
  if (order == 1) return reduce("sum", row, absolute(x));
  if (order == kInfinity) return reduce("max", row, absolute(x));
  if (order == -kInfinity) return reduce("min", row, absolute(x));
  if (order == 0) return reduce("sum", row, select(binary("!=", x, integer(0)), integer(1), integer(0)));
  return binary("**", reduce("sum", row, binary("**", absolute(x), real(order))), integer(1) / real(order));
}

const RuleGroup kDistanceRules = {
    "distance",
    {
        {"aten.cosine_similarity.default", cosine_similarity},
        {"aten.cosine_embedding_loss.default", cosine_embedding},
        {"aten.triplet_margin_loss.default", triplet_margin},
        {"aten.pairwise_distance.default", pairwise_distance},
        {"aten.cdist.default", cdist},
        {"aten._pdist_forward.default", pdist},
    },
};

}  // namespace solstice::importer
