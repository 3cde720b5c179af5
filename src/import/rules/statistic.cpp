// Medians, quantiles and modes along an axis, or of all elements: ranks, and gathers through them.
//   i[m] = select(isnan(max[n](x[m,n])), argmax[n](x[m,n]), argbot[n; (N-1)//2](x[m,n]))
//   y[m] = x[m, i[m]]
#include <cmath>

#include "import/rules.h"
#include "import/rules/index.h"

namespace solstice::importer {
namespace {

// The rows of a tensor, and the shape of a result that has one element for each.
struct StatisticRows {
  Value x;
  int axis = 0;
  Axes loops;  // one an axis of x
  Axes kept;   // of the result
  TermRef element;

  const Axis& row() const { return loops[static_cast<size_t>(axis)]; }
};

Result<StatisticRows> rows_of(Call& call) {
  StatisticRows out;
  SOLSTICE_TRY(out.x, call.tensor("self"));
  const int rank = out.x.rank();
  const bool whole = !call.has("dim") || call.is_none("dim");
  bool keepdim = false;
  if (call.has("keepdim")) {
    SOLSTICE_TRY(keepdim, call.flag("keepdim"));
  }
  if (whole || rank == 0) {
    out.x = flattened(call, out.x);
  } else {
    SOLSTICE_TRY(out.axis, call.axis("dim", rank));
  }
  for (int i = 0; i < out.x.rank(); ++i) {
    out.loops.push_back(i == out.axis ? single(call, out.x.axis(i)) : call.loops().align(out.x.axis(i)));
    if (i != out.axis) out.kept.push_back(out.loops.back());
    if (i == out.axis && keepdim && !whole) out.kept.push_back({});
  }
  for (int i = 0; whole && keepdim && i < rank; ++i) out.kept.push_back({});
  if (rank == 0) out.kept = {};
  out.element = as_stored(call, out.x, read_at(out.x, flat_all(out.loops, call.loops()), call.loops()));
  return out;
}

// A reduction of the row; of a row of one element the element itself.
TermRef over_row(const StatisticRows& r, const char* reducer, const TermRef& body, const TermRef& where = nullptr) {
  return r.row().digits.empty() ? body : reduce(reducer, r.row().digits, body, where);
}

// The position in the row of the element of that ascending rank; NaN counts as the largest.
TermRef position_of_rank(const StatisticRows& r, const Index& rank) {
  return r.row().digits.empty() ? integer(0) : ranked("argbot", r.row().digits[0], r.element, rank);
}

TermRef element_at(Call& call, const StatisticRows& r, const TermRef& position) {
  Indices at = flat_all(r.loops, call.loops());
  at[static_cast<size_t>(r.axis)] = r.row().digits.empty() ? Index(0) : index_of_read(position, r.row().extent());
  return read_at(r.x, at, call.loops());
}

// How many elements of each row are no NaN.
Value counted(Call& call, const StatisticRows& r) {
  const TermRef one = importer::select(apply("isnan", {r.element}), integer(0), integer(1));
  return call.draft().define("valid", r.kept, over_row(r, "sum", one), DType::kI64);
}

// The lower of two middle elements. Unless NaNs are left out, a row that holds one has it as its median.
TermRef median_position(Call& call, const StatisticRows& r, bool skips) {
  const int64_t middle = (r.row().extent() - 1) / 2;
  if (!is_float(r.x.dtype)) return position_of_rank(r, Index(middle));
  if (skips) {
    const TermRef last = apply("max", {counted(call, r).term - integer(1), integer(0)});
    return position_of_rank(r, index_of_read(binary("//", last, integer(2)), r.row().extent()));
  }
  const TermRef broken = apply("isnan", {over_row(r, "max", r.element)});
  const TermRef first = r.row().digits.empty() ? integer(0) : reduce("argmax", r.row().digits, r.element);
  return importer::select(broken, first, position_of_rank(r, Index(middle)));
}

template <bool Skips>
Status median(Call& call) {
  SOLSTICE_TRY(const StatisticRows r, rows_of(call));
  Value position = call.draft().define("middle", r.kept, median_position(call, r, Skips), DType::kI64);
  const TermRef value = element_at(call, r, position.term);
  SOLSTICE_CHECK(call.yield(0, call.draft().define(call.wish(), r.kept, value, r.x.dtype)));
  return call.node().outs.size() > 1 ? call.yield(1, std::move(position)) : success();
}

// The least of the most frequent elements, and where it stands last.
Status mode(Call& call) {
  SOLSTICE_TRY(const StatisticRows r, rows_of(call));
  if (r.row().digits.empty()) return call.unsupported("the mode of single elements");
  const Axis other = call.loops().align(r.row());
  Indices there = flat_all(r.loops, call.loops());
  there[static_cast<size_t>(r.axis)] = call.loops().flat(other);
  const TermRef twin = as_stored(call, r.x, read_at(r.x, there, call.loops()));
  const TermRef equal = reduce("sum", other.digits, integer(1), binary("==", twin, r.element));
  const Value count = call.draft().define("count", r.loops, equal, DType::kI64);
  const Value most = call.draft().define("most", r.kept, over_row(r, "max", count.term), DType::kI64);
  const TermRef least = over_row(r, "min", r.element, binary("==", count.term, most.term));
  Value value = call.draft().define(call.wish(), r.kept, least, r.x.dtype);
  const TermRef place = index_value(call.loops().flat(r.row()));
  const TermRef last = over_row(r, "max", place, binary("==", r.element, as_stored(call, value, value.term)));
  SOLSTICE_CHECK(call.yield(0, std::move(value)));
  return call.out_used(1) ? call.yield(1, call.draft().define("where_last", r.kept, last, DType::kI64)) : success();
}

// The rank that a quantile asks for, a real number, and how the elements next to it make up the result.
struct Quantile {
  TermRef rank;  // rounded as PyTorch stores it
  std::string interpolation;
  std::optional<double> known;  // the rank, where the import knows it
};

double stored_as(double value, DType dtype) {
  return dtype == DType::kF64 ? value : static_cast<double>(static_cast<float>(value));
}

TermRef beside(const StatisticRows& r, const Quantile& q, const char* way) {
  if (q.known) {
    const double at = way[0] == 'f'   ? std::floor(*q.known)
                      : way[0] == 'c' ? std::ceil(*q.known)
                                      : std::nearbyint(*q.known);
    return position_of_rank(r, Index(static_cast<int64_t>(at)));
  }
  const TermRef at = apply("i64", {apply(way, {q.rank})});
  return position_of_rank(r, index_of_read(binary("%", at, integer(r.row().extent())), r.row().extent()));
}

TermRef picked(Call& call, const StatisticRows& r, const Quantile& q, const Axes& axes, const char* way) {
  const Value position = call.draft().define("ranked", axes, beside(r, q, way), DType::kI64);
  return element_at(call, r, position.term);
}

// PyTorch's lerp, which takes the nearer end as its start.
TermRef between(const TermRef& low, const TermRef& high, double weight) {
  return weight < 0.5 ? low + real(weight) * (high - low) : high - real(1 - weight) * (high - low);
}

TermRef between(const TermRef& low, const TermRef& high, const TermRef& weight) {
  const TermRef distance = high - low;
  return importer::select(binary("<", weight, real(0.5)), low + weight * distance,
                          high - distance * (integer(1) - weight));
}

TermRef interpolated(Call& call, const StatisticRows& r, const Quantile& q, const Axes& axes) {
  if (q.interpolation == "lower") return picked(call, r, q, axes, "floor");
  if (q.interpolation == "higher") return picked(call, r, q, axes, "ceil");
  if (q.interpolation == "nearest") return picked(call, r, q, axes, "round");
  const TermRef low = picked(call, r, q, axes, "floor"), high = picked(call, r, q, axes, "ceil");
  if (q.interpolation == "midpoint") return between(low, high, 0.5);
  if (q.known) return between(low, high, stored_as(*q.known - std::floor(*q.known), r.x.dtype));
  return between(low, high, q.rank - apply("floor", {q.rank}));
}

template <bool Skips>
Status quantile(Call& call) {
  SOLSTICE_TRY(const StatisticRows r, rows_of(call));
  SOLSTICE_TRY(const Value share, operand(call, "q", r.x.dtype));
  Quantile q;
  SOLSTICE_TRY(q.interpolation, call.text("interpolation"));
  if (share.rank() > 1) return call.unsupported("quantiles in a table");
  Axes axes = r.kept;
  Indices at;
  if (share.rank() == 1) {
    axes.insert_at(0, call.loops().align(share.axis(0)));
    at.push_back(call.loops().flat(axes[0]));
  }
  TermRef last = integer(r.row().extent() - 1);
  if (Skips) last = apply("max", {counted(call, r).term - integer(1), integer(0)});
  q.rank = apply(std::string(name_of(r.x.dtype)), {read_at(share, at, call.loops()) * last});
  if (!Skips && !call.argument("q").find("t")) {
    SOLSTICE_TRY(const double given, call.number("q"));
    q.known = stored_as(stored_as(given, r.x.dtype) * static_cast<double>(r.row().extent() - 1), r.x.dtype);
  }
  TermRef value = interpolated(call, r, q, axes);
  if (!Skips) {  // a row with a NaN has no other quantile
    const Value most = call.draft().define("most", r.kept, over_row(r, "max", r.element), r.x.dtype);
    value = importer::select(apply("isnan", {most.term}), most.term, value);
  }
  return call.yield(call.draft().define(call.wish(), axes, value, r.x.dtype));
}

}  // namespace

const RuleGroup kStatisticRules = {
    "statistic",
    {
        {"aten.median.default", median<false>},
        {"aten.median.dim", median<false>},
        {"aten.nanmedian.default", median<true>},
        {"aten.nanmedian.dim", median<true>},
        {"aten.mode.default", mode},
        {"aten.quantile.default", quantile<false>},
        {"aten.quantile.scalar", quantile<false>},
        {"aten.nanquantile.default", quantile<true>},
        {"aten.nanquantile.scalar", quantile<true>},
    },
};

}  // namespace solstice::importer
