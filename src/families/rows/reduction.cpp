#include "families/rows/reduction.h"

#include <fmt/format.h>

namespace solstice::families::rows {

using codegen::CType;
using ir::Reducer;

Result<Reduction> reduction_of(const ir::Expr& e, CType term) {
  const bool real = codegen::is_real(term);
  const CType number = real ? term : CType::kI64;
  const auto plain = [&](const char* op) { return Reduction{"", op, number, std::string(codegen::name_of(number)), false, "", ""}; };
  const auto ranked = [&](const char* op) { return Reduction{"", op, CType::kI32, fmt::format("solstice::rows::Ranked<{}>", codegen::name_of(number)), true, "", ""}; };
  switch (e.reducer) {
    case Reducer::kSum: return plain("Sum");
    case Reducer::kProd: return plain("Prod");
    case Reducer::kMax: return plain("Max");
    case Reducer::kMin: return plain("Min");
    case Reducer::kAny: return Reduction{"", "Any", CType::kI32, "int", false, "", ""};
    case Reducer::kAll: return Reduction{"", "All", CType::kI32, "int", false, "", ""};
    case Reducer::kArgMax: return ranked("ArgMax");
    case Reducer::kArgMin: return ranked("ArgMin");
    default: return fail(Code::not_yet, fmt::format("reducer `{}` in family `rows`", ir::name_of(e.reducer)));
  }
}

std::string partial_name(size_t number) { return fmt::format("q{}", number); }

}  // namespace solstice::families::rows
