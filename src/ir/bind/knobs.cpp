// Knobs of schedules and options of clauses.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/bind/binder.h"

namespace solstice::ir {

KnobValue Binder::bind_knob(const lang::KnobValue& v, const Scope& scope) {
  using Kind = lang::KnobValue::Kind;
  KnobValue out;
  switch (v.kind) {
    case Kind::kSize:
      return KnobValue::of_size(v.sizes);
    case Kind::kString:
      return KnobValue::of_string(v.text);
    case Kind::kTuple:
    case Kind::kSet:
      out.kind = v.kind == Kind::kTuple ? KnobValue::Kind::kTuple : KnobValue::Kind::kSet;
      for (const lang::KnobValue& i : v.items) out.items.push_back(bind_knob(i, scope));
      return out;
    case Kind::kStruct:
      out.kind = KnobValue::Kind::kStruct;
      out.text = v.text;
      out.members = bind_knobs(v.members, scope).items;
      return out;
    case Kind::kExpr:
      break;
  }
  if (v.expr->kind == lang::ExprKind::kName && !scope.dims.count(v.expr->text)) return KnobValue::of_name(v.expr->text);
  if (v.expr->kind == lang::ExprKind::kNumber) {
    out.kind = KnobValue::Kind::kReal;
    out.real = std::strtod(v.expr->text.c_str(), nullptr);
    return out;
  }
  return KnobValue::of_int(value_of(v.expr, scope).value_or(0));
}

Knobs Binder::bind_knobs(const std::vector<lang::Knob>& knobs, const Scope& scope) {
  Knobs out;
  std::set<std::string> given;
  for (const lang::Knob& k : knobs) {
    const std::vector<std::string> names = k.names.empty() ? std::vector<std::string>{""} : k.names;
    for (const std::string& each : names) {
      if (given.insert(each).second) continue;
      error("E022", k.span, each.empty() ? "two values without a name" : fmt::format("knob `{}` is given twice", each),
            "keep one");
    }
    const std::string name = names.size() == 1 ? names[0] : fmt::format("({})", fmt::join(names, ", "));
    out.items.emplace_back(name, bind_knob(k.value, scope));
  }
  return out;
}

// The elements of a tensor that a view takes at strides of their own.
std::optional<Binder::Strided> Binder::strided(const View& view) const {
  if (view.pieces.size() != 1) return std::nullopt;
  const ViewPiece& piece = view.pieces[0];
  const auto stands_alone = [](const Affine& f) {
    return f.offset == 0 && f.terms.size() == 1 && f.terms[0].second == 1;
  };
  const bool whole = std::all_of(piece.lhs.begin(), piece.lhs.end(), stands_alone);
  if (!whole || piece.rhs->op != Op::kRead || piece.rhs->has_else) return std::nullopt;
  const Tensor& tensor = program_.tensor(piece.rhs->id);
  Strided out{piece.rhs->id, 0, view.shape, std::vector<int64_t>(view.shape.size(), 0)};
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    const std::optional<Affine> at = as_affine(piece.rhs->args[d]);
    if (!at) return std::nullopt;
    out.offset += at->offset * tensor.strides[d];
    for (size_t v = 0; v < piece.lhs.size(); ++v)
      out.strides[v] += at->coefficient(piece.lhs[v].terms[0].first) * tensor.strides[d];
  }
  return out;
}

std::optional<Binder::Strided> Binder::strided(const Symbol& symbol) const {
  std::optional<Strided> out;
  if (symbol.view >= 0) {
    out = strided(views_[static_cast<size_t>(symbol.view)]);
  } else if (symbol.tensor >= 0) {
    const Tensor& tensor = program_.tensor(symbol.tensor);
    out = Strided{symbol.tensor, 0, tensor.shape, tensor.strides};
  }
  if (!out || out->shape.size() < symbol.fixed.size() || out->strides.size() != out->shape.size()) return std::nullopt;
  const auto fixed = static_cast<std::ptrdiff_t>(symbol.fixed.size());
  for (size_t d = 0; d < symbol.fixed.size(); ++d) out->offset += symbol.fixed[d] * out->strides[d];
  out->shape.erase(out->shape.begin(), out->shape.begin() + fixed);
  out->strides.erase(out->strides.begin(), out->strides.begin() + fixed);
  return out;
}

void Binder::name_tensors(KnobValue& value, const Scope& scope) {
  for (KnobValue& item : value.items) name_tensors(item, scope);
  name_tensors(value.members, scope);
  if (value.kind != KnobValue::Kind::kName && value.kind != KnobValue::Kind::kStruct) return;
  const auto found = scope.symbols.find(value.text);
  if (found == scope.symbols.end()) return;
  std::optional<Strided> named = strided(found->second);
  if (!named) return;
  value.tensor = named->tensor;
  value.offset = named->offset;
  value.shape = std::move(named->shape);
  value.strides = std::move(named->strides);
}

void Binder::name_tensors(std::vector<std::pair<std::string, KnobValue>>& knobs, const Scope& scope) {
  for (auto& [name, value] : knobs) name_tensors(value, scope);
}

}  // namespace solstice::ir
