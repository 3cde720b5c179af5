#include "families/reduction/reduction_text.h"

#include <fmt/format.h>

namespace solstice::families::reduction {
namespace {

using codegen::CType;
using codegen::Value;
using ir::Reducer;

}  // namespace

Result<Reduction> reduction_of(const ir::Expr& e, CType term) {
  const bool real = codegen::is_real(term);
  const CType number = real ? term : CType::kI64;
  const auto plain = [&](const char* op) {
    return Reduction{"", op, number, std::string(codegen::name_of(number)), false, "", "", false};
  };
  const auto ranked = [&](const char* op) {
    return Reduction{"",   op, CType::kI32, fmt::format("solstice::reduction::Ranked<{}>", codegen::name_of(number)),
                     true, "", "",          false};
  };
  switch (e.reducer) {
    case Reducer::kSum:
      return plain("Sum");
    case Reducer::kProd:
      return plain("Prod");
    case Reducer::kMax:
      return plain("Max");
    case Reducer::kMin:
      return plain("Min");
    case Reducer::kAny:
      return Reduction{"", "Any", CType::kI32, "int", false, "", "", false};
    case Reducer::kAll:
      return Reduction{"", "All", CType::kI32, "int", false, "", "", false};
    case Reducer::kArgMax:
      return ranked("ArgMax");
    case Reducer::kArgMin:
      return ranked("ArgMin");
    default:
      return fail(Code::not_yet, fmt::format("reducer `{}` in family `rows`", ir::name_of(e.reducer)));
  }
}

int64_t Reduction::bytes() const {
  const bool eight =
      type.find("double") != std::string::npos || type.find("long long") != std::string::npos || scaled();
  return (eight ? 8 : 4) * (ranked ? 2 : 1);
}

std::string Reduction::value_of(const std::string& text) const {
  if (in_order()) return fmt::format("reduction::{}::found({})", op, text);
  if (scaled()) return text + ".get()";
  return ranked ? text + ".index" : wide ? fmt::format("static_cast<float>({})", text) : text;
}

Result<Reduction> begin_reduction(codegen::Emitter& emitter, const ir::Expr& e, bool wide) {
  SOLSTICE_TRY(const Value term, emitter.emit(e.args[0]));
  SOLSTICE_TRY(Reduction out, reduction_of(e, term.type));
  out.name = fmt::format("r{}", emitter.fresh());
  out.equation = emitter.indices().source_of(e);
  out.wide = wide && out.rounds();
  if (out.op == "Prod" && out.type == "float") out.op = "ScaledProd", out.type = "solstice::reduction::Scaled";
  out.term = fmt::format("static_cast<{}>({})", out.type, term.text);
  if (out.wide) out.type = "double";
  if (out.ranked) {
    SOLSTICE_TRY(const Value index, emitter.emit(emitter.indices().index_node(e.binders.front())));
    out.term = fmt::format("{}{{{}, {}}}", out.type, term.text, index.text);
  }
  if (e.args.size() > 1) {
    SOLSTICE_TRY(const Value condition, emitter.emit(e.args[1]));
    out.test = fmt::format("if ({}) ", condition.text);
  }
  return out;
}

std::string partial_name(size_t number) { return fmt::format("q{}", number); }

}  // namespace solstice::families::reduction
