// Writes where a mask is true.
//   y[m,n] = select(mask[m,n], values, x[m,n])
#include <algorithm>

#include "import/graph/damage.h"
#include "import/rules.h"
#include "import/rules/index.h"

namespace solstice::importer {
namespace {

// The mask and the axis of x that its first one goes with; the others follow.
struct Mask {
  Value value;
  int first = 0;
};

Result<Mask> only_mask(Call& call) {
  SOLSTICE_TRY(const std::vector<std::optional<Value>> listed, call.maybe_tensors("indices"));
  const auto given = [](const std::optional<Value>& index) { return index.has_value(); };
  if (std::count_if(listed.begin(), listed.end(), given) != 1) return call.unsupported("a mask beside other indices");
  const auto at = std::find_if(listed.begin(), listed.end(), given);
  return Mask{**at, static_cast<int>(at - listed.begin())};
}

// All elements along one axis.
Value in_one_row(Call& call, const Value& x) {
  Substitution old;
  int64_t elements = 1;
  for (const Axis& axis : x.axes) elements *= axis.extent();
  Value out = x;
  out.axes = call.loops().reshape(x.axes, {elements}, old);
  out.term = substitute(x.term, old, call.dims());
  return out;
}

Index row_major(Call& call, const Axes& axes) {
  Index out(0);
  for (const Axis& axis : axes) out = scale(out, call.loops().size(axis)) + call.loops().flat(axis);
  return out;
}

// A value for each element that the mask may take: `values` broadcasts to the axes before the mask, the taken elements
// and the axes behind it, and must not tell the taken elements apart.
Result<TermRef> value_for_all(Call& call, const Value& values, const Indices& element, const Mask& mask) {
  const size_t first = static_cast<size_t>(mask.first);
  Indices taken(element.begin(), element.begin() + mask.first);
  taken.push_back(Index(0));
  taken.insert(taken.end(), element.begin() + static_cast<long>(first + mask.value.axes.size()), element.end());
  if (values.axes.size() > taken.size()) return call.unsupported("values of a higher rank than the mask selects");
  const size_t missing = taken.size() - values.axes.size();
  if (first >= missing && values.extent(static_cast<int>(first - missing)) != 1) {
    return call.unsupported("as many values as the mask takes elements: how many depends on its values");
  }
  Indices at;
  for (size_t i = 0; i < values.axes.size(); ++i)
    at.push_back(values.axes[i].extent() == 1 ? Index(0) : taken[missing + i]);
  return read_at(values, at, call.loops());
}

// Values one by one, in the order of the elements that the mask takes:
//   n[k] = sum[j where j <= k](mask[j]); y[k] = select(mask[k], source[n[k] - 1], x[k])
Status masked_scatter(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const Value mask, call.tensor("mask"));
  SOLSTICE_TRY(const Value source, call.tensor("source"));
  SOLSTICE_TRY(const Broadcast shape, broadcast(call, {x, mask}));
  const Value whole{shape.axes, read_at(mask, shape.at[1], call.loops()), mask.dtype};
  const Value taken = in_one_row(call, whole), values = in_one_row(call, source);
  const Axis here = call.loops().align(taken.axis(0)), earlier = call.loops().align(taken.axis(0));
  const Index at = call.loops().flat(here), before = call.loops().flat(earlier);
  const TermRef one = importer::select(read_at(taken, {before}, call.loops()), integer(1), integer(0));
  const TermRef count = reduce("sum", earlier.digits, one, binary("<=", index_value(before), index_value(at)));
  const Value rank = call.draft().define("rank", {here}, count, DType::kI64);
  call.note("a check of values is left out: PyTorch refuses a mask that takes more elements than `source` has");
  const Index flat = row_major(call, shape.axes);
  const Index from = index_at(call, read_at(rank, {flat}, call.loops()) - integer(1), values.axis(0));
  const TermRef written = read_at(values, {from}, call.loops());
  const TermRef y = importer::select(read_at(whole, flat_all(shape.axes, call.loops()), call.loops()), written,
                                     read_at(x, shape.at[0], call.loops()));
  return call.yield(call.draft().define(call.wish(), shape.axes, y, x.dtype));
}

}  // namespace

const RuleGroup kMaskedRules = {"masked", {{"aten.masked_scatter.default", masked_scatter}}};

Status put_where(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const Value values, call.tensor("values"));
  SOLSTICE_TRY(const bool adds, call.flag("accumulate"));
  SOLSTICE_TRY(const Mask mask, only_mask(call));
  if (mask.first + mask.value.rank() > x.rank()) damaged("a mask of too high a rank");
  if (mask.value.rank() == 0) return call.unsupported("a mask that is a single truth value");
  Axes axes;
  for (int i = 0; i < x.rank(); ++i) {
    const int own = i - mask.first;
    const bool masked = own >= 0 && own < mask.value.rank();
    axes.push_back(masked ? call.loops().align({&x.axis(i), &mask.value.axis(own)}) : call.loops().align(x.axis(i)));
  }
  const Indices at = flat_all(axes, call.loops());
  const Indices there(at.begin() + mask.first, at.begin() + mask.first + mask.value.rank());
  TermRef taken = read_at(mask.value, there, call.loops());
  if (mask.value.dtype != DType::kBool) taken = binary("!=", taken, integer(0));
  const TermRef before = read_at(x, at, call.loops());
  SOLSTICE_TRY(const TermRef value, value_for_all(call, values, at, mask));
  const TermRef after = adds ? before + value : value;
  return call.yield(call.draft().define(call.wish(), axes, importer::select(taken, after, before), x.dtype));
}

}  // namespace solstice::importer
