#include "families/elementwise/stores.h"

#include <fmt/format.h>

#include "codegen/text/marks.h"

namespace solstice::families::elementwise {
namespace {

using codegen::Emitter;
using codegen::Value;

// "if (...) " of an equation that holds at one step alone.
Result<std::string> step_test(Draft& draft, const codegen::FlatEquation& equation) {
  if (equation.steps < 0) return std::string();
  SOLSTICE_TRY(const Value step, draft.emitter.emit(draft.nest.flat.indices.index_node(equation.steps)));
  return fmt::format("if ({} == {}) ", step.text, equation.last);
}

std::string_view hint(const Settings& settings) { return settings.streaming.stores ? "kStream" : "kPlain"; }

}  // namespace

Result<std::vector<NestStore>> nest_stores(Draft& draft) {
  std::vector<NestStore> out;
  for (const codegen::Access& access : codegen::accesses_of(draft.program, draft.nest.flat)) {
    if (access.read) continue;
    NestStore store{draft.nest.flat.equations[static_cast<size_t>(access.equation)], fmt::format("y{}", out.size()), "",
                    ""};
    if (draft.nest.vector > 1 && is_stream(draft.nest, access)) {
      SOLSTICE_TRY(const Emitter::Place at, draft.emitter.place(draft.program.tensor(access.tensor), access.args));
      store.offset = at.offset.text;
      SOLSTICE_TRY(store.test, step_test(draft, store.equation));
    }
    out.push_back(std::move(store));
  }
  return out;
}

std::string declaration(const Draft& draft, const NestStore& store) {
  if (store.offset.empty()) return "";
  return fmt::format("Vec<{}, {}> {};\n", draft.storage(store.equation.target), draft.nest.vector, store.name);
}

Result<std::string> lane_text(Draft& draft, const NestStore& store) {
  const int target = store.equation.target;
  SOLSTICE_TRY(const Value value, draft.emitter.emit(store.equation.rhs));
  if (!store.offset.empty())
    return codegen::mark(store.equation.equation) +
           fmt::format("{}.v[lane] = narrow<{}>({});\n", store.name, draft.storage(target), value.text);
  SOLSTICE_TRY(const Emitter::Place at, draft.emitter.place(draft.program.tensor(target), store.equation.lhs));
  SOLSTICE_TRY(const std::string test, step_test(draft, store.equation));
  return codegen::mark(store.equation.equation, "store") + test +
         fmt::format("store_one<{}>({} + {}, {});\n", hint(draft.settings), draft.emitter.pointer_name(target),
                     at.offset.text, value.text);
}

namespace {

std::string store_with_tail(const Draft& draft, const NestStore& store) {
  const std::string pointer = draft.emitter.pointer_name(store.equation.target);
  const std::string text =
      fmt::format("store<{}>({} + {}, {});\n", hint(draft.settings), pointer, store.offset, store.name);
  if (draft.nest.shifted) {
    return fmt::format(
        "if (whole) {{\n{0}}} else {{\n#pragma unroll\nfor (int lane = 0; lane < {1}; ++lane) if ({2}) {3}[{4} + lane] "
        "= {5}.v[lane];\n}}\n",
        text, draft.nest.vector, draft.inside_row(), pointer, store.offset, store.name);
  }
  if (draft.tail() == 0) return text;
  return fmt::format("if (kFull || q < {}) {}else for (int lane = 0; lane < {}; ++lane) {}[{} + lane] = {}.v[lane];\n",
                     draft.whole_vectors(), text, draft.tail(), pointer, store.offset, store.name);
}

}  // namespace

std::string vector_store(const Draft& draft, const NestStore& store) {
  if (store.offset.empty()) return "";
  const std::string text = codegen::marked(store_with_tail(draft, store), store.equation.equation, "store");
  return store.test.empty() ? text : fmt::format("{}{{\n{}}}\n", store.test, text);
}

}  // namespace solstice::families::elementwise
