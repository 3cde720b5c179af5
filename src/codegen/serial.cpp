#include "codegen/serial.h"

#include <fmt/format.h>

namespace solstice::codegen {
namespace {

using ir::Reducer;

CType accumulator_type(const ir::Expr& e, const Value& term) {
  if (e.reducer == Reducer::kAny || e.reducer == Reducer::kAll) return CType::kBool;
  if (is_real(term.type)) return term.type;
  return CType::kI64;
}

std::string binder_name(int id) { return fmt::format("i{}", id); }

}  // namespace

Result<ReducerText> text_of(Reducer reducer, CType type) {
  const auto number = [&](double v) { return is_real(type) ? literal(v, type) : literal(static_cast<int64_t>(v), type); };
  const auto lowest = is_real(type) ? fmt::format("-static_cast<{}>(infinity())", name_of(type)) : literal(INT64_MIN, CType::kI64);
  const auto highest = is_real(type) ? fmt::format("static_cast<{}>(infinity())", name_of(type)) : literal(INT64_MAX, CType::kI64);
  switch (reducer) {
    case Reducer::kSum: return ReducerText{number(0), "{0} + {1}"};
    case Reducer::kProd: return ReducerText{number(1), "{0} * {1}"};
    case Reducer::kMax: return ReducerText{lowest, "maximum({0}, {1})"};
    case Reducer::kMin: return ReducerText{highest, "minimum({0}, {1})"};
    case Reducer::kAny: return ReducerText{"false", "{0} || {1}"};
    case Reducer::kAll: return ReducerText{"true", "{0} && {1}"};
    default: return fail(Code::not_yet, fmt::format("reducer `{}` inside a thread", ir::name_of(reducer)));
  }
}

Result<Value> emit_serial_reduction(Emitter& emitter, const ir::ExprRef& reduction) {
  const ir::Expr& e = *reduction;
  const int outer = emitter.depth();
  const int inner = emitter.push();
  for (const int binder : e.binders) {
    const Interval range{0, emitter.indices().index(binder).extent - 1};
    Binding binding;
    binding.terms = {{emitter.variable(CType::kI32, binder_name(binder), inner, range), 1}};
    emitter.bind(binder, std::move(binding));
  }
  SOLSTICE_TRY(Value term, emitter.emit(e.args[0]));
  const CType type = accumulator_type(e, term);
  term = emitter.convert(term, type);
  std::string test;
  if (e.args.size() > 1) {
    SOLSTICE_TRY(const Value condition, emitter.emit(e.args[1]));
    test = fmt::format("if ({}) ", emitter.convert(condition, CType::kBool).text);
  }
  const std::string body = emitter.take(inner);
  emitter.pop();
  SOLSTICE_TRY(const ReducerText text, text_of(e.reducer, type));
  // The loops' variables make the accumulator's name unique.
  const std::string accumulator = fmt::format("r{}", emitter.fresh());
  std::string code = fmt::format("{} {} = {};\n", name_of(type), accumulator, text.start);
  for (const int binder : e.binders) {
    code += fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{\n", binder_name(binder), emitter.indices().index(binder).extent);
  }
  code += fmt::format("{}{}{} = {};\n", body, test, accumulator, fmt::format(fmt::runtime(text.step), accumulator, term.text));
  code += std::string(e.binders.size(), '}');
  emitter.statement(outer, code);
  return emitter.variable(type, accumulator, outer);
}

}  // namespace solstice::codegen
