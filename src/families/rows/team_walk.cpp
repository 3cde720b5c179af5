#include "families/rows/team_walk.h"

#include <fmt/format.h>

#include "families/walk.h"

namespace solstice::families::rows {

using codegen::Binding;
using codegen::CType;

std::string_view row_type(const Shape& shape) { return shape.row_count > INT32_MAX / 2 ? "long long" : "int"; }

void bind_row(Draft& draft, int depth) {
  const CType type = draft.shape.row_count > INT32_MAX / 2 ? CType::kI64 : CType::kI32;
  bind_loops(draft.emitter, draft.shape.rows, draft.emitter.variable(type, "row", depth, {0, draft.shape.row_count - 1}), 1, depth);
}

// The run that begins with the row's vector `name`.
void TeamWalk::bind_run(const std::string& name, int depth) {
  for (const codegen::Loop& loop : draft_.shape.columns) draft_.emitter.bind(loop.stepping(), Binding{});
  draft_.emitter.bind(draft_.shape.columns.back().stepping(),
                      Binding{0, {{draft_.emitter.variable(CType::kI32, name, depth, {0, team_.vectors - 1}), team_.vector}}});
}

// Every row's part, chunk by chunk.
Result<std::string> TeamWalk::copying() {
  codegen::Emitter& emitter = draft_.emitter;
  const int rows = emitter.push();
  bind_row(draft_, rows);
  const int depth = emitter.push();
  bind_run("begin", depth);
  std::string copies;
  for (size_t i = 0; i < team_.streams.size(); ++i) {
    SOLSTICE_TRY(const std::string copy, run_copy(emitter, team_.streams[i]));
    copies += fmt::format("if (lane == {}) {}", i, copy);
  }
  const std::string inner = emitter.take(depth);
  emitter.pop();
  const std::string outer = emitter.take(rows);
  emitter.pop();
  return fmt::format(
      "const int lane = static_cast<int>(threadIdx.x) % 32;\nconstexpr int mine = 0;\nint copied = 0;\n"
      "for ({0} row = team; row < {1}; row += {2}) {{\n{3}for (int chunk = 0; chunk < {4}; ++chunk) {{\n"
      "ring.wait_landed(copied++ - rows::kInFlight);\nring.wait_empty();\nu32 expected = 0;\n"
      "const int begin = first + chunk * {5};\nif (begin < last) {{\n"
      "const int count = smaller(smaller(last - begin, {5}) * {6}, {7} - begin * {6});\n{8}{9}}}\nring.expect(expected);\nring.advance();\n}}\n}}\n",
      row_type(draft_.shape), draft_.shape.row_count, team_.teams, outer, team_.chunks(), team_.chunk * team_.threads, team_.vector,
      draft_.shape.column_count, inner, copies);
}

// Of step `k`; parts differ by one vector.
std::string TeamWalk::column() const {
  return fmt::format("const int c = first + k * {} + place;\nif (k >= {} && c >= last) break;\n", team_.threads, team_.sure_steps());
}

std::string TeamWalk::held(const std::string& step) const {
  return fmt::format("#pragma unroll\nfor (int k = 0; k < {}; ++k) {{\n{}{}}}\n", team_.steps, column(), step);
}

Result<std::string> TeamWalk::arriving(const std::string& step) {
  codegen::Emitter& emitter = draft_.emitter;
  std::string loads, pointers;
  const int depth = emitter.push();
  bind_run("first", depth);
  for (size_t i = 0; i < team_.streams.size(); ++i) {
    const RunRead& s = team_.streams[i];
    const std::string_view type = draft_.storage(s.access.tensor);
    std::string skip;
    if (team_.vector * s.element < 16) {  // rows begin between two units of the copy engine
      SOLSTICE_TRY(const std::string begin, run_begin(emitter, s));
      skip = fmt::format(" + reduce::Run<{}>::before({})", type, begin);
    }
    pointers += fmt::format("const {0}* const s{1} = reinterpret_cast<const {0}*>(ring.bytes() + {2}){3};\n", type, i, s.offset, skip);
    loads += fmt::format("x{0}[k] = *reinterpret_cast<const {1}*>(s{0} + (i * {2} + place) * {3});\n", i, draft_.vector_type(type),
                         team_.threads, team_.vector);
  }
  const std::string places = emitter.take(depth);
  emitter.pop();
  const std::string steps =
      fmt::format("#pragma unroll\nfor (int i = 0; i < {0}; ++i) {{\nconst int k = chunk * {0} + i;\nif (k >= {1}) break;\n{2}",
                  team_.chunk, team_.steps, column());
  return fmt::format(
      "#pragma unroll\nfor (int chunk = 0; chunk < {0}; ++chunk) {{\nring.go_to(filling * {0} + chunk);\nring.wait_full();\n{1}{2}{3}{4}}}\n"
      "ring.release();\n{3}{5}}}\n}}\n",
      team_.chunks(), places, pointers, steps, loads, step);
}

std::string TeamWalk::declarations() const {
  std::string out;
  for (size_t i = 0; i < team_.streams.size(); ++i) {
    out += fmt::format("{} x{}[{}];\n", draft_.vector_type(draft_.storage(team_.streams[i].access.tensor)), i, team_.steps);
  }
  return out;
}

}  // namespace solstice::families::rows
