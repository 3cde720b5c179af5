// Positions among sorted boundaries, membership in a list, and counts by bin.
//   y[m] = sum[n](select(b[n] >= x[m], 0, 1))
//   y[b] = sum[n where x[n] == b](1)
#include "import/call/conversion.h"
#include "import/rules.h"
#include "import/rules/index.h"
#include "import/rules/loss.h"

namespace solstice::importer {
namespace {

// How many of the ascending `bounds` lie below the value, or (`right`) not above it. NaN lies above all.
TermRef count_below(const std::vector<Loop>& row, const TermRef& bound, const TermRef& own, bool right) {
  const TermRef one = importer::select(binary(right ? ">" : ">=", bound, own), integer(0), integer(1));
  return row.empty() ? one : reduce("sum", row, one);
}

// Boundaries of one row for all values, or a row for each row of values.
Status yield_search(Call& call, const Value& x, const Value& bounds, const std::optional<Value>& order, bool right) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  const bool shared = bounds.rank() == 1;
  if (!shared && bounds.rank() != x.rank()) return call.unsupported("boundaries of another rank");
  Axes axes;
  Indices at;
  for (int i = 0; i < x.rank(); ++i) {
    const bool together = !shared && i + 1 < x.rank();
    axes.push_back(together ? call.loops().align({&x.axis(i), &bounds.axis(i)}) : call.loops().align(x.axis(i)));
    if (together) at.push_back(call.loops().flat(axes.back()));
  }
  const Axis along = call.loops().align(bounds.axis(bounds.rank() - 1));
  at.push_back(call.loops().flat(along));
  if (order) at.back() = index_at(call, read_at(*order, at, call.loops()), bounds.axis(bounds.rank() - 1));
  const TermRef bound = as_stored(call, bounds, read_at(bounds, at, call.loops()));
  const TermRef own = as_stored(call, x, read_at(x, flat_all(axes, call.loops()), call.loops()));
  return call.yield(call.draft().define(call.wish(), axes, count_below(along.digits, bound, own, right), dtype));
}

Status bucketize(Call& call) {
  SOLSTICE_TRY(const Value bounds, call.tensor("boundaries"));
  SOLSTICE_TRY(const Value x, operand(call, "self", bounds.dtype));
  SOLSTICE_TRY(const bool right, call.flag("right"));
  return yield_search(call, x, bounds, std::nullopt, right);
}

Status searchsorted(Call& call) {
  SOLSTICE_TRY(const Value bounds, call.tensor("sorted_sequence"));
  SOLSTICE_TRY(const Value x, operand(call, "self", bounds.dtype));
  SOLSTICE_TRY(const std::optional<Value> order, call.maybe_tensor("sorter"));
  SOLSTICE_TRY(bool right, call.flag("right"));
  if (!call.is_none("side")) {
    SOLSTICE_TRY(const std::string side, call.text("side"));
    right = side == "right";
  }
  return yield_search(call, x, bounds, order, right);
}

Status isin(Call& call) {
  const char* members_name = call.has("test_elements") ? "test_elements" : "test_element";
  SOLSTICE_TRY(const Value list, operand(call, members_name, DType::kF64));
  SOLSTICE_TRY(const Value x, operand(call, call.has("elements") ? "elements" : "element", list.dtype));
  SOLSTICE_TRY(const bool invert, call.flag("invert"));
  Axes axes, members;
  for (const Axis& axis : x.axes) axes.push_back(call.loops().align(axis));
  for (const Axis& axis : list.axes) members.push_back(call.loops().align(axis));
  const TermRef own = as_stored(call, x, read_at(x, flat_all(axes, call.loops()), call.loops()));
  const TermRef member = as_stored(call, list, read_at(list, flat_all(members, call.loops()), call.loops()));
  const std::vector<Loop> digits = all_digits(members);
  const TermRef hit = binary("==", own, member), any = digits.empty() ? hit : reduce("any", digits, hit);
  return call.yield(call.draft().define(call.wish(), axes, invert ? logical_not(any) : any, DType::kBool));
}

// One axis of bins, and what of all elements falls into each.
Status yield_counts(Call& call, const Axis& elements, const TermRef& bin, const TermRef& each, const TermRef& inside) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  const Axis bins = call.loops().fresh_axis(call.out_extent(0));
  const TermRef here = binary("==", bin, index_value(call.loops().flat(bins)));
  const TermRef member = inside ? also(inside, here) : here;
  const TermRef count = elements.digits.empty() ? importer::select(member, each, integer(0))
                                                : reduce("sum", elements.digits, each, member);
  return call.yield(call.draft().define(call.wish(), {bins}, count, dtype));
}

// The trace knows the extent of the result where the module works with that one alone.
Status bincount(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const std::optional<Value> weights, call.maybe_tensor("weights"));
  const Axis elements = call.loops().align(x.axis(0));
  const Indices at = {call.loops().flat(elements)};
  const TermRef each = weights ? read_at(*weights, at, call.loops()) : integer(1);
  call.note("a check of values is left out: the result of PyTorch grows with the largest value");
  return yield_counts(call, elements, read_at(x, at, call.loops()), each, nullptr);
}

// The range of the bins: given, or that of the elements; one of no width is widened to both sides.
struct Span {
  TermRef low, high, width;  // the width is rounded as PyTorch stores it
};

TermRef rounded_to(DType dtype, TermRef term) { return apply(std::string(name_of(dtype)), {std::move(term)}); }

Result<Span> span_of(Call& call, const Value& x, const Axis& elements, const TermRef& element) {
  SOLSTICE_TRY(const double low, call.number("min"));
  SOLSTICE_TRY(const double high, call.number("max"));
  if (low != high) {
    const TermRef from = rounded_scalar(low, x.dtype), to = rounded_scalar(high, x.dtype);
    return Span{from, to, low == 0 ? to : rounded_to(x.dtype, to - from)};
  }
  const auto extremum = [&](const char* reducer) {
    return call.draft().define(reducer, {}, reduce(reducer, elements.digits, element), x.dtype).term;
  };
  const TermRef least = extremum("min"), most = extremum("max"), flat = binary("==", least, most);
  const TermRef from = importer::select(flat, least - integer(1), least);
  const TermRef to = importer::select(flat, most + integer(1), most);
  return Span{from, to, rounded_to(x.dtype, to - from)};
}

// Elements below the first bin, beyond the last and NaN count nowhere; the last bin holds its upper end.
Status histc(Call& call) {
  SOLSTICE_TRY(Value x, call.tensor("self"));
  SOLSTICE_TRY(const int64_t bins, call.count("bins"));
  if (!is_float(x.dtype)) return call.unsupported("a histogram of integers");
  x = flattened(call, x);
  const Axis elements = call.loops().align(x.axis(0));
  if (elements.digits.empty()) return call.unsupported("a histogram of one element");
  const TermRef element = as_stored(call, x, read_at(x, {call.loops().flat(elements)}, call.loops()));
  SOLSTICE_TRY(const Span span, span_of(call, x, elements, element));
  const TermRef distance = span.low->text == "0" ? element : rounded_to(x.dtype, element - span.low);
  const TermRef place = apply("i64", {rounded_to(x.dtype, rounded_to(x.dtype, distance * integer(bins)) / span.width)});
  const TermRef inside = binary("and", binary("<=", span.low, element), binary("<=", element, span.high));
  return yield_counts(call, elements, apply("min", {place, integer(bins - 1)}), integer(1), inside);
}

}  // namespace

const RuleGroup kSearchRules = {
    "search",
    {
        {"aten.bucketize.Tensor", bucketize},
        {"aten.bucketize.Scalar", bucketize},
        {"aten.searchsorted.Tensor", searchsorted},
        {"aten.searchsorted.Scalar", searchsorted},
        {"aten.isin.Tensor_Tensor", isin},
        {"aten.isin.Tensor_Scalar", isin},
        {"aten.isin.Scalar_Tensor", isin},
        {"aten.bincount.default", bincount},
        {"aten.histc.default", histc},
    },
};

}  // namespace solstice::importer
