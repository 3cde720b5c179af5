#include "import/call/pointwise.h"

#include <algorithm>

#include "import/draft/value_range.h"

namespace solstice::importer {

TermRef as_stored(const Call& call, const Value& value, TermRef term) {
  if (!is_float(value.dtype) || !value.is_stored()) return term;
  if (value.term->kind == TermKind::kRead) {
    const DraftKind kind = call.draft().tensors[static_cast<size_t>(value.term->tensor)].kind;
    if (kind == DraftKind::kInput || kind == DraftKind::kParam || kind == DraftKind::kBuffer ||
        kind == DraftKind::kRandom)
      return term;
  }
  if (term->kind == TermKind::kApply && term->text == name_of(value.dtype)) return term;
  return apply(std::string(name_of(value.dtype)), {std::move(term)});
}

Result<Value> operand(Call& call, const char* name, DType dtype) {
  if (call.argument(name).find("t")) return call.tensor(name);
  SOLSTICE_TRY(TermRef value, call.scalar(name, dtype));
  return Value{{}, std::move(value), dtype};
}

void hint(Call& call, const Axis& axis, const std::string& name) {
  constexpr int kRoleWeight = 10;
  if (axis.digits.size() == 1) call.dims().hint(axis.digits[0].dim, name, kRoleWeight);
}

Result<Broadcast> broadcast(Call& call, const Operands& operands) {
  int rank = 0;
  for (const Value& operand : operands) rank = std::max(rank, operand.rank());
  Broadcast out;
  for (int axis = 0; axis < rank; ++axis) {
    std::vector<const Axis*> aligned;
    for (const Value& operand : operands) {
      const int own = axis - (rank - operand.rank());
      if (own < 0 || operand.extent(own) == 1) continue;
      if (!aligned.empty() && aligned[0]->extent() != operand.extent(own)) {
        return call.unsupported("operands of different shapes that do not broadcast");
      }
      aligned.push_back(&operand.axis(own));
    }
    out.axes.push_back(aligned.empty() ? Axis{} : call.loops().align(aligned));
  }
  for (const Value& operand : operands) {
    Indices at;
    for (int own = 0; own < operand.rank(); ++own) {
      const size_t axis = static_cast<size_t>(own + rank - operand.rank());
      at.push_back(operand.extent(own) == 1 ? Index(0) : call.loops().flat(out.axes[axis]));
    }
    out.at.push_back(std::move(at));
  }
  return out;
}

Result<Value> pointwise(Call& call, const Operands& operands, DType dtype, const PointFunction& f) {
  SOLSTICE_TRY(const Broadcast shape, broadcast(call, operands));
  Terms terms;
  bool stored = false;
  for (size_t i = 0; i < operands.size(); ++i) {
    terms.push_back(read_at(operands[i], shape.at[i], call.loops()));
    stored = stored || operands[i].is_stored();
  }
  const TermRef element = wrapped_to(call.draft(), f(terms), dtype);
  if (!stored) return Value{shape.axes, element, dtype};
  return call.draft().define(call.wish(), shape.axes, element, dtype);
}

Status yield_pointwise(Call& call, const Operands& operands, DType dtype, const PointFunction& f) {
  SOLSTICE_TRY(Value y, pointwise(call, operands, dtype, f));
  return call.yield(std::move(y));
}

Status map_self(Call& call, const std::function<TermRef(const TermRef&)>& f) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  return yield_pointwise(call, {x}, dtype, [&](const Terms& t) { return f(t[0]); });
}

}  // namespace solstice::importer
