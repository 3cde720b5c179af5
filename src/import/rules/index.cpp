// Reads through indices.
//   y[k, j] = x[i[k], j]
#include "import/rules/index.h"

#include <algorithm>

#include "import/draft/value_range.h"
#include "import/graph/damage.h"
#include "import/rules.h"

namespace solstice::importer {

Axis single(Call& call, const Axis& axis) {
  if (axis.digits.size() <= 1) return call.loops().align(axis);
  const DimId dim = call.dims().fresh(axis.extent());
  call.dims().derive(dim, {call.loops().size(axis), 1, 0});
  return call.loops().axis_of(dim);
}

Value flattened(Call& call, const Value& value) {
  Value out = value;
  Substitution old;
  int64_t elements = 1;
  for (const Axis& axis : value.axes) elements = product_of(elements, axis.extent());
  out.axes = call.loops().reshape(value.axes, {elements}, old);
  out.term = substitute(value.term, old, call.dims());
  return out;
}

namespace {

TermRef wrapped(const TermRef& position, const Size& extent) { return binary("%", position, size_value(extent)); }

}  // namespace

TermRef from_front(Call& call, const TermRef& position, const Axis& axis) {
  const Size extent = call.loops().size(axis);
  if (position->kind == TermKind::kIndex) return index_value(modulo(position->indices[0], extent, call.dims()));
  return wrapped(position, extent);
}

Index index_at(const Call& call, const TermRef& position, const Axis& axis) {
  if (position->kind == TermKind::kIndex) return position->indices[0];
  const auto bounds = bounds_of(call.draft(), position);
  const bool beyond = bounds && (bounds->low < 0 || bounds->high >= static_cast<double>(axis.extent()));
  const bool ranged = position->text == "%" || (has_read(position) && !beyond);
  return index_of_read(ranged ? position : wrapped(position, call.draft().loops().size(axis)), axis.extent());
}

bool has_mask(const std::vector<std::optional<Value>>& indices) {
  return std::any_of(indices.begin(), indices.end(), [](const auto& index) {
    return index && (index->dtype == DType::kBool || index->dtype == DType::kU8);
  });
}

Result<Pointers> pointers_of(Call& call, const Value& tensor) {
  SOLSTICE_TRY(const std::vector<std::optional<Value>> listed, call.maybe_tensors("indices"));
  Operands given;
  std::vector<size_t> at;
  if (has_mask(listed)) return call.unsupported("a mask as an index: how many elements it takes depends on its values");
  for (size_t i = 0; i < listed.size(); ++i) {
    if (!listed[i]) continue;
    given.push_back(*listed[i]);
    at.push_back(i);
  }
  if (given.empty() || listed.size() > tensor.axes.size()) return call.unsupported("indices that fit no axis");
  SOLSTICE_TRY(const Broadcast shape, broadcast(call, given));
  Pointers out;
  out.axes = shape.axes;
  out.positions.resize(tensor.axes.size());
  for (size_t k = 0; k < given.size(); ++k) {
    const TermRef position = read_at(given[k], shape.at[k], call.loops());
    out.positions[at[k]] = from_front(call, position, tensor.axes[at[k]]);
  }
  const bool together = at.back() - at.front() + 1 == at.size();
  out.place = together ? static_cast<int>(at.front()) : 0;
  return out;
}

namespace {

Status index_tensor(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const Pointers to, pointers_of(call, x));
  Axes axes;
  Indices at;
  for (size_t i = 0; i < x.axes.size(); ++i) {
    if (to.positions[i]) {
      at.push_back(index_at(call, to.positions[i], x.axes[i]));
      continue;
    }
    axes.push_back(call.loops().align(x.axes[i]));
    at.push_back(call.loops().flat(axes.back()));
  }
  axes.insert(axes.begin() + to.place, to.axes.begin(), to.axes.end());
  TermRef element = read_at(x, at, call.loops());
  if (!x.is_stored()) return call.yield({std::move(axes), std::move(element), x.dtype});
  return call.yield(call.draft().define(call.wish(), axes, std::move(element), x.dtype));
}

// Each element `repeats` times: the axis gets a digit that nothing reads.
Status repeat_interleave(Call& call) {
  SOLSTICE_TRY(Value x, call.tensor("self"));
  SOLSTICE_TRY(const int64_t repeats, call.integer("repeats"));
  const bool flat = call.is_none("dim");
  if (flat) x = flattened(call, x);
  if (x.rank() == 0) return call.unsupported("repeating a single number");
  int axis = 0;
  if (!flat) {
    SOLSTICE_TRY(axis, call.axis("dim", x.rank()));
  }
  const Axis times = call.loops().fresh_axis(repeats);
  std::vector<Loop>& digits = x.axes.at(static_cast<size_t>(axis)).digits;
  digits.insert(digits.end(), times.digits.begin(), times.digits.end());
  return call.yield(std::move(x));
}

// y[.., c] = 1 where the class is c
Status one_hot(Call& call) {
  SOLSTICE_TRY(const Value classes, call.tensor("self"));
  SOLSTICE_TRY(const int64_t count, call.integer("num_classes"));
  if (count < 1) return call.unsupported("how many classes there are depends on the values");
  Axes axes;
  for (const Axis& a : classes.axes) axes.push_back(call.loops().align(a));
  const TermRef own = read_at(classes, flat_all(axes, call.loops()), call.loops());
  axes.push_back(call.loops().fresh_axis(count));
  const TermRef hit = binary("==", own, index_value(call.loops().flat(axes.back())));
  call.note(
      "a check of values is left out: PyTorch refuses classes below 0 and beyond the last, the program gives a row of "
      "zeros");
  return call.yield(call.draft().define(call.wish(), axes, importer::select(hit, integer(1), integer(0)), DType::kI64));
}

}  // namespace

const RuleGroup kIndexRules = {
    "index",
    {
        {"aten.index.Tensor", index_tensor},
        {"aten._unsafe_index.Tensor", index_tensor},
        {"aten.repeat_interleave.self_int", repeat_interleave},
        {"aten.one_hot.default", one_hot},
    },
};

}  // namespace solstice::importer
