#include "families/rows/stores.h"

#include <fmt/format.h>

#include "codegen/text/marks.h"
#include "families/reduction/row_access.h"

namespace solstice::families::rows {
namespace {

using codegen::Emitter;
using codegen::FlatEquation;
using codegen::Value;

std::string_view hint(const Settings& s) { return s.streaming.stores ? "kStream" : "kPlain"; }
std::string_view guard(const Draft& draft) { return draft.settings.spare_rows(draft.shape) ? "if (valid) " : ""; }

// Pointer and offset of the element that the equation defines.
Result<std::string> target_text(Draft& draft, const FlatEquation& e) {
  SOLSTICE_TRY(const Emitter::Place at, draft.emitter.place(draft.program.tensor(e.target), e.lhs));
  return fmt::format("{} + {}", draft.emitter.pointer_name(e.target), at.offset.text);
}

}  // namespace

Result<std::vector<RowStore>> row_stores(Draft& draft, const Sweep& sweep) {
  std::vector<RowStore> out;
  for (const int k : sweep.stores) {
    RowStore store{draft.equation(k), fmt::format("y{}", out.size()), ""};
    const codegen::Access& write = draft.writes.at(k);
    if (draft.settings.shifted ? is_run(draft.shape, write) : is_stream(draft.shape, write, draft.settings.vector)) {
      SOLSTICE_TRY(store.base, target_text(draft, store.equation));
    }
    out.push_back(std::move(store));
  }
  return out;
}

Status write_store(Draft& draft, const RowStore& store, VectorText& text) {
  const FlatEquation& e = store.equation;
  SOLSTICE_TRY(const Value value, draft.emitter.emit(e.rhs));
  if (store.base.empty()) {
    SOLSTICE_TRY(const std::string target, target_text(draft, e));
    text.lanes += codegen::mark(e.equation, "store") +
                  fmt::format("{}store_one<{}>({}, {});\n", guard(draft), hint(draft.settings), target, value.text);
    return success();
  }
  const std::string_view type = draft.storage(e.target);
  text.before += fmt::format("{} {};\n", draft.vector_type(type), store.name);
  text.lanes += codegen::mark(e.equation) + fmt::format("{}.v[lane] = narrow<{}>({});\n", store.name, type, value.text);
  const std::string whole =
      fmt::format("{}store<{}>({}, {});\n", guard(draft), hint(draft.settings), store.base, store.name);
  const std::string stored =
      !draft.settings.shifted
          ? whole
          : fmt::format(
                "if (whole) {{\n{}}} else {{\n#pragma unroll\nfor (int lane = 0; lane < {}; ++lane) {{\n"
                "if (has(lane)) store<{}>({} + lane, Vec<{}, 1>{{{{{}.v[lane]}}}});\n}}\n}}\n",
                whole, draft.settings.vector, hint(draft.settings), store.base, type, store.name);
  text.after += codegen::marked(stored, e.equation, "store");
  return success();
}

Result<std::string> row_output_text(Draft& draft, int depth) {
  if (draft.phases.row_outputs.empty()) return std::string();
  std::string stores;
  for (const int k : draft.phases.row_outputs) {
    const FlatEquation& e = draft.equation(k);
    SOLSTICE_TRY(const Value value, draft.emitter.emit(e.rhs));
    SOLSTICE_TRY(const std::string target, target_text(draft, e));
    stores += codegen::mark(e.equation, "store") + fmt::format("store_one({}, {});\n", target, value.text);
  }
  const std::string_view first = draft.settings.cluster > 1 ? "position == 0 && rank == 0" : "position == 0";
  const std::string_view valid = draft.settings.spare_rows(draft.shape) ? " && valid" : "";
  return draft.emitter.take(depth) + fmt::format("if ({}{}) {{\n{}}}\n", first, valid, stores);
}

std::string partials_text(const Settings& s, const std::vector<Partial>& partials) {
  std::string stores;
  for (size_t i = 0; i < partials.size(); ++i) {
    stores += codegen::mark(partials[i].reduction.equation, "store") +
              fmt::format("{}[static_cast<long long>(row) * {} + rank] = {};\n", partial_name(i), s.parts,
                          partials[i].reduction.name);
  }
  return fmt::format("if (threadIdx.x == 0) {{\n{}}}\n", stores);
}

}  // namespace solstice::families::rows
