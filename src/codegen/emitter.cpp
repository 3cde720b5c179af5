#include "codegen/emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codegen/pointer_names.h"

namespace solstice::codegen {

Emitter::Emitter(const ir::Program& program, Interner& indices) : program_(program), indices_(indices), scopes_(1) {}

std::string Emitter::pointer_name(int tensor) const {
  std::string& name = names_[tensor];
  if (name.empty()) name = codegen::pointer_name(program_, tensor);
  return name;
}

int Emitter::push() {
  scopes_.emplace_back();
  return depth();
}

void Emitter::pop() { scopes_.pop_back(); }

std::vector<Statement> Emitter::take_statements(int depth) {
  return std::exchange(scopes_[static_cast<size_t>(depth)].statements, {});
}

Value Emitter::variable(CType type, std::string name, int depth, Interval range) const {
  return {type, std::move(name), depth, range, std::nullopt};
}

void Emitter::note_use(const Value& value) {
  for (size_t i = scopes_.size(); i-- > 1 && static_cast<int>(i) > value.depth;)
    scopes_[i].outside = std::max(scopes_[i].outside, value.depth);
}

void Emitter::note_read(int tensor) {
  if (std::find(read_.begin(), read_.end(), tensor) == read_.end()) read_.push_back(tensor);
}

void Emitter::statement(int depth, const std::string& text) {
  scopes_[static_cast<size_t>(depth)].statements.push_back({text, "", "", {}, equation_});
}

void Emitter::add_definition(std::string_view type, const Value& value, const std::string& text,
                             const std::vector<Value>& operands) {
  Statement out{fmt::format("const {} {} = {};", type, value.text, text), std::string(type), value.text, {}, equation_};
  for (const Value& operand : operands) out.operands.push_back(operand.text);
  scopes_[static_cast<size_t>(value.depth)].statements.push_back(std::move(out));
}

Value Emitter::define(CType type, const std::string& text, std::initializer_list<Value> operands, Interval range) {
  int depth = 0;
  for (const Value& operand : operands) depth = std::max(depth, operand.depth);
  return define(type, text, depth, operands, range);
}

Value Emitter::define(CType type, const std::string& text, int depth, Interval range) {
  return define(type, text, depth, {}, range);
}

Value Emitter::define(CType type, const std::string& text, int depth, const std::vector<Value>& operands,
                      Interval range) {
  for (const Value& operand : operands) note_use(operand);
  const std::string key = fmt::format("{} {}", name_of(type), text);
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->known.find(key);
    if (found == scope->known.end()) continue;
    note_use(found->second);
    return found->second;
  }
  Value value{type, fmt::format("v{}", next_++), depth, range, std::nullopt};
  note_use(value);
  add_definition(name_of(type), value, text, operands);
  scopes_[static_cast<size_t>(depth)].known.emplace(key, value);
  return value;
}

Value Emitter::convert(const Value& value, CType type) {
  if (value.type == type) return value;
  Value out = value;
  out.type = type;
  if (is_real(type) && value.is_constant()) {
    out.constant = value.constant ? *value.constant : static_cast<double>(value.range.lo);
    out.text = literal(*out.constant, type);
    return out;
  }
  if (value.is_constant()) {
    out.text = literal(value.range.lo, type);
    return out;
  }
  return define(type, fmt::format("static_cast<{}>({})", name_of(type), value.text), {value}, value.range);
}

// A linear form by depth: what sits in outer scopes is added up there.
struct Emitter::Parts {
  int64_t offset = 0;
  std::map<int, std::vector<std::pair<Value, int64_t>>> terms;  // depth -> variable, factor

  void add(const Value& value, int64_t factor) {
    for (auto& [known, known_factor] : terms[value.depth]) {
      if (known.text == value.text) {
        known_factor += factor;
        return;
      }
    }
    terms[value.depth].push_back({value, factor});
  }
};

Value Emitter::sum_of(const Parts& parts, Interval range) {
  const CType type = range.fits_int() ? CType::kI32 : CType::kI64;
  Value sum{type, "", 0, Interval::point(0), std::nullopt};
  for (const auto& [depth, terms] : parts.terms) {
    std::string text = sum.text;
    std::vector<Value> operands = {sum};
    for (const auto& [value, factor] : terms) {
      if (factor == 0) continue;
      const std::string wide =
          value.type == type ? value.text : fmt::format("static_cast<{}>({})", name_of(type), value.text);
      const std::string term = factor == 1 ? wide : fmt::format("{} * {}", wide, literal(factor, type));
      text += (text.empty() ? "" : " + ") + term;
      operands.push_back(value);
    }
    // A lone variable needs no statement of its own.
    const bool lone = text.find_first_of("+* (") == std::string::npos;
    if (text.empty()) continue;
    sum = lone ? Value{type, text, depth, range, std::nullopt} : define(type, text, depth, operands, range);
  }
  if (sum.text.empty()) return {type, literal(parts.offset, type), 0, Interval::point(parts.offset), std::nullopt};
  if (parts.offset != 0) {
    sum = define(type, fmt::format("{} + {}", sum.text, literal(parts.offset, type)), {sum}, range);
  }
  sum.range = range;
  return sum;
}

Value Emitter::evaluate(const ir::Affine& form) {
  Parts parts;
  parts.offset = form.offset;
  for (const auto& [id, coefficient] : form.terms) {
    const Binding& binding = bindings_[id];
    parts.offset += coefficient * binding.offset;
    for (const auto& [value, factor] : binding.terms) parts.add(value, coefficient * factor);
  }
  return sum_of(parts, interval_of(indices_, form));
}

Result<Value> Emitter::emit(const ir::ExprRef& e) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->memo.find(e.get());
    if (found == scope->memo.end()) continue;
    note_use(found->second);
    return found->second;
  }
  const int source = indices_.source_of(*e);
  const int around = set_equation(source < 0 ? equation_ : source);
  Result<Value> made = emit_node(e);
  set_equation(around);
  SOLSTICE_TRY(Value value, std::move(made));
  note_use(value);
  scopes_[static_cast<size_t>(value.depth)].memo.emplace(e.get(), value);
  return value;
}

Result<Emitter::Place> Emitter::place(const ir::Tensor& tensor, const std::vector<ir::ExprRef>& args) {
  Parts parts;
  Interval range = Interval::point(0);
  std::vector<Value> tests;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    const int64_t stride = tensor.strides[d];
    const Interval whole{0, tensor.shape[d] - 1};
    const Interval reach = interval_of(indices_, program_, args[d]);
    const bool inside = reach.within(whole.lo, whole.hi);
    // If a test guards the load, the offset that is used lies in the tensor.
    range = range + Interval::point(stride) * (inside ? reach : whole);
    const auto form = linear_form(indices_, args[d]);
    Value index;
    if (!form || !inside) {
      SOLSTICE_TRY(index, emit(args[d]));
    }
    if (!inside) {
      const CType type = index.type;
      std::string text;
      if (reach.lo < 0) text = fmt::format("{} >= {}", index.text, literal(int64_t{0}, type));
      if (reach.hi > whole.hi) {
        text += fmt::format("{}{} < {}", text.empty() ? "" : " && ", index.text, literal(tensor.shape[d], type));
      }
      tests.push_back(define(CType::kBool, text, {index}, {0, 1}));
    }
    if (!form) {
      parts.add(index, stride);
      continue;
    }
    parts.offset += form->offset * stride;
    for (const auto& [id, coefficient] : form->terms) {
      const Binding& binding = bindings_[id];
      parts.offset += coefficient * stride * binding.offset;
      for (const auto& [value, factor] : binding.terms) parts.add(value, coefficient * stride * factor);
    }
  }
  Place out;
  // Arithmetic of an offset that a test will reject may leave 32 bits: unsigned wrap is harmless there, so the type
  // follows the range of the offsets in use.
  out.offset = sum_of(parts, range);
  for (const Value& test : tests) {
    if (!out.inside)
      out.inside = test;
    else
      out.inside =
          define(CType::kBool, fmt::format("{} && {}", out.inside->text, test.text), {*out.inside, test}, {0, 1});
  }
  return out;
}

Result<Value> Emitter::emit_read(const ir::Expr& e) {
  const ir::Tensor& tensor = program_.tensor(e.id);
  if (!tensor.dtype) {
    return fail(Code::internal, fmt::format("`{}` has no storage and cannot be loaded", tensor.name));
  }
  note_read(e.id);
  SOLSTICE_TRY(const Place at, place(tensor, e.args));
  const CType type = computing_type(*tensor.dtype);
  std::string text = fmt::format("load_one({} + {})", pointer_name(e.id), at.offset.text);
  if (at.inside) {
    Value otherwise{type, is_real(type) ? literal(0.0, type) : literal(int64_t{0}, type), 0, Interval::point(0),
                    std::nullopt};
    if (e.has_else) {
      SOLSTICE_TRY(otherwise, emit(e.args.back()));
      const bool wider = otherwise.type == CType::kF64 && !otherwise.constant;
      if (!wider) otherwise = convert(otherwise, is_real(otherwise.type) && !is_real(type) ? CType::kF32 : type);
    }
    const CType result = otherwise.type;
    text = fmt::format("{} ? static_cast<{}>({}) : {}", at.inside->text, name_of(result), text, otherwise.text);
    return define(result, text, {at.offset, *at.inside, otherwise}, join(values_of(*tensor.dtype), otherwise.range));
  }
  return define(type, text, {at.offset}, values_of(*tensor.dtype));
}

}  // namespace solstice::codegen
