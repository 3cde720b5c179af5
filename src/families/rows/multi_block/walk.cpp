#include "families/rows/multi_block/walk.h"

#include <fmt/format.h>

#include "families/reduction/row_access.h"
#include "families/walk.h"

namespace solstice::families::rows {

using codegen::Binding;
using codegen::CType;

namespace {

// Vectors at a run's end that are not whole, and the one before them: what is read in windows (kernels/rows/window.h)
// reaches into the next vector.
constexpr int kBesideEnd = 3;

}  // namespace

std::string_view row_type(const Shape& shape) { return shape.row_count > INT32_MAX / 2 ? "long long" : "int"; }

void MultiBlockWalk::bind_row(int depth) {
  const CType type = draft_.shape.row_count > INT32_MAX / 2 ? CType::kI64 : CType::kI32;
  bind_loops(draft_.emitter, draft_.shape.rows,
             draft_.emitter.variable(type, "row", depth, {0, draft_.shape.row_count - 1}), 1, depth);
}

std::string MultiBlockWalk::piece_text() const {
  const std::string run = team_.runs == 1 ? "0" : fmt::format("piece / {}", team_.pieces);
  const std::string within = team_.runs == 1 ? "piece" : fmt::format("piece % {}", team_.pieces);
  const std::string shifted = fmt::format(
      "[[maybe_unused]] const int at = begin * {} - shift_of(row, run);\n[[maybe_unused]] const bool apart = begin == "
      "0 || begin + size > {};\n",
      team_.vector, team_.run - kBesideEnd);
  return fmt::format(
      "const int piece = first + chunk;\n[[maybe_unused]] const int run = {0};\nconst int begin = {1} * {2};\n"
      "const int size = smaller({3} - begin, {2});\n{4}{5}",
      run, within, team_.piece, team_.run, team_.shifted ? shifted : "",
      !has_full() ? ""
                  : fmt::format("[[maybe_unused]] const bool full = size == {}{};\n", team_.piece,
                                team_.shifted ? " && !apart" : ""));
}

Result<std::string> MultiBlockWalk::shift_text() {
  codegen::Emitter& emitter = draft_.emitter;
  const int depth = emitter.push();
  bind_row(depth);
  for (const codegen::Loop& loop : draft_.shape.columns) emitter.bind(loop.stepping(), Binding{});
  bind_run(depth);
  SOLSTICE_TRY(const std::string begin, run_begin(emitter, team_.streams.front()));
  const std::string text = emitter.take(depth);
  emitter.pop();
  return fmt::format(
      "[[maybe_unused]] const auto shift_of = [=]([[maybe_unused]] {} row, [[maybe_unused]] int run) {{\n{}return "
      "static_cast<int>({} & {});\n}};\n",
      row_type(draft_.shape), text, begin, team_.vector - 1);
}

void MultiBlockWalk::bind_run(int depth) {
  const std::vector<codegen::Loop>& columns = draft_.shape.columns;
  if (team_.flat || columns.size() == 1) return;
  const std::vector<codegen::Loop> outer(columns.begin(), columns.end() - 1);
  bind_loops(draft_.emitter, outer, draft_.emitter.variable(CType::kI32, "run", depth, {0, team_.runs - 1}), 1, depth);
}

// The range is that of whole vectors: elements outside the run are never touched.
Binding MultiBlockWalk::at(const std::string& vector, const std::string& element, int depth) const {
  if (team_.shifted)
    return Binding{0, {{draft_.emitter.variable(CType::kI32, element, depth, {0, team_.extent - team_.vector}), 1}}};
  return Binding{0, {{draft_.emitter.variable(CType::kI32, vector, depth, {0, team_.run - 1}), team_.vector}}};
}

void MultiBlockWalk::bind_piece(int depth) {
  codegen::Emitter& emitter = draft_.emitter;
  const std::vector<codegen::Loop>& columns = draft_.shape.columns;
  if (team_.flat) {
    for (const codegen::Loop& loop : columns) emitter.bind(loop.stepping(), Binding{});
  }
  bind_run(depth);
  emitter.bind(columns.back().stepping(), at("begin", "at", depth));
}

void MultiBlockWalk::bind_vector(int depth) {
  codegen::Emitter& emitter = draft_.emitter;
  if (team_.flat && !team_.shifted) return bind_columns(emitter, draft_.shape, team_.vector, depth);
  emitter.bind(draft_.shape.columns.back().stepping(), at("c", "element", depth));
}

// Every row's part, piece by piece; a lane for each stream.
Result<std::string> MultiBlockWalk::copying() {
  codegen::Emitter& emitter = draft_.emitter;
  const int rows = emitter.push();
  bind_row(rows);
  const int depth = emitter.push();
  bind_piece(depth);
  std::string copies;
  for (size_t i = 0; i < team_.streams.size(); ++i) {
    SOLSTICE_TRY(const std::string copy, run_copy(emitter, team_.streams[i]));
    copies += fmt::format("if (lane == {}{}) {}", i, team_.shifted ? " && count > 0" : "", copy);
  }
  const std::string inner = emitter.take(depth);
  emitter.pop();
  const std::string outer = emitter.take(rows);
  const std::string count = team_.shifted ? fmt::format("smaller(size * {}, {} - at)", team_.vector, team_.extent)
                                          : fmt::format("size * {}", team_.vector);
  emitter.pop();
  return fmt::format(
      "constexpr int mine = 0;\nfor ({0} row = team; row < {1}; row += {2}) {{\n{3}for (int chunk = 0; chunk < chunks; "
      "++chunk) {{\n{4}"
      "ring.wait_empty();\nu32 expected = 0;\nconst int count = "
      "{5};\n{6}{7}ring.expect(expected);\nring.advance();\n}}\n}}\n",
      row_type(draft_.shape), draft_.shape.row_count, team_.teams, outer, piece_text(), count, inner, copies);
}

Result<std::string> MultiBlockWalk::pointers(std::string_view ring, int depth) {
  std::string out;
  for (size_t i = 0; i < team_.streams.size(); ++i) {
    const RunRead& s = team_.streams[i];
    const std::string_view type = draft_.storage(s.access.tensor);
    std::string skip;
    if (team_.vector * s.element < 16) {  // pieces begin between two units of the copy engine
      SOLSTICE_TRY(const std::string begin, run_begin(draft_.emitter, s));
      skip = fmt::format(" + pipeline::BulkRun<{}>::before({})", type, begin);
    }
    out += fmt::format("const {0}* const s{1} = reinterpret_cast<const {0}*>({2}.bytes() + {3}){4};\n", type, i, ring,
                       s.offset, skip);
  }
  return draft_.emitter.take(depth) + out;
}

std::string MultiBlockWalk::guarded_steps(const std::string& step) const {
  if (!team_.shifted) return steps(step);
  const std::string whole =
      "constexpr bool whole = true;\n[[maybe_unused]] constexpr auto has = [](int) { return true; };\n";
  const std::string tested = fmt::format(
      "[[maybe_unused]] const bool whole = element >= 0 && element <= {};\n"
      "[[maybe_unused]] const auto has = [=](int lane) {{ return static_cast<unsigned>(element + lane) < {}u; }};\n",
      team_.extent - team_.vector, team_.extent);
  if (has_full())
    return fmt::format("if (full) {{\n{}}} else {{\n{}}}\n", loop(whole + step, false), loop(tested + step, true));
  return fmt::format("if (!apart) {{\n{}}} else {{\n{}}}\n", loop(whole + step, true), loop(tested + step, true));
}

std::string MultiBlockWalk::lanes(const std::string& lane) const {
  return fmt::format("#pragma unroll\nfor (int lane = 0; lane < {}; ++lane) {{\n{}{}}}\n", team_.vector,
                     team_.shifted ? "if (!has(lane)) continue;\n" : "", lane);
}

bool MultiBlockWalk::has_full() const { return team_.piece % team_.group_threads() == 0; }

std::string MultiBlockWalk::steps(const std::string& step) const {
  if (!has_full()) return loop(step, true);
  if (!team_.shifted && team_.run % team_.piece == 0) return loop(step, false);
  return fmt::format("if (full) {{\n{}}} else {{\n{}}}\n", loop(step, false), loop(step, true));
}

std::string MultiBlockWalk::loop(const std::string& step, bool tested) const {
  const std::string element = fmt::format("[[maybe_unused]] const int element = at + v * {};\n", team_.vector);
  return fmt::format(
      "#pragma unroll\nfor (int k = 0; k < {}; ++k) {{\nconst int v = k * {} + place;\n{}[[maybe_unused]] const int c "
      "= begin + v;\n{}{}}}\n",
      team_.steps(), team_.group_threads(), tested ? "if (v >= size) break;\n" : "", team_.shifted ? element : "",
      step);
}

std::string MultiBlockWalk::loads() const {
  std::string out;
  for (size_t i = 0; i < team_.streams.size(); ++i) {
    out += fmt::format("x{0}[k] = *reinterpret_cast<const {1}*>(s{0} + v * {2});\n", i,
                       draft_.vector_type(draft_.storage(team_.streams[i].access.tensor)), team_.vector);
  }
  return out;
}

std::string MultiBlockWalk::declarations() const {
  std::string out;
  for (size_t i = 0; i < team_.streams.size(); ++i) {
    out += fmt::format("{} x{}[{}];\n", draft_.vector_type(draft_.storage(team_.streams[i].access.tensor)), i,
                       team_.steps());
  }
  return out;
}

}  // namespace solstice::families::rows
