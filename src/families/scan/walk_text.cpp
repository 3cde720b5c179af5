#include "families/scan/walk_text.h"

#include <fmt/format.h>

namespace solstice::families::scan {

// Vectors of rows that lie side by side.
int64_t WalkText::inner_vectors() const {
  int64_t out = 1;
  for (size_t k = shape.nest.loops.size(); shape.nest.loops[--k].indices.front() != shape.along;)
    out *= shape.nest.loops[k].extent;
  return out / shape.nest.vector;
}

std::string WalkText::thread() const {
  if (shape.by_columns) {
    const bool grid = shape.grid > 0;
    const std::string columns = fmt::format(
        "const {0} row = static_cast<{0}>(blockIdx.x{3}) * {1} + static_cast<int>(threadIdx.x) % {1};\n"
        "[[maybe_unused]] const {0} outer = row / {2}, inner = row % {2};\n"
        "[[maybe_unused]] const int warp = static_cast<int>(threadIdx.x) / {1}, peer = 0;\n",
        index_type, shape.rows_per_block(), inner_vectors(), grid ? fmt::format(" % {}u", shape.teams) : "");
    return columns + (grid ? fmt::format("const int member = static_cast<int>(blockIdx.x / {}u);\n", shape.teams) : "");
  }
  const std::string places = fmt::format(
      "[[maybe_unused]] const int peer = static_cast<int>(threadIdx.x) % {1}, warp = static_cast<int>(threadIdx.x) % "
      "{0} / {1};\n",
      shape.group, shape.lanes());
  if (shape.grid > 0) return places + "const int rank = static_cast<int>(blockIdx.x);\n";
  return fmt::format(
             "[[maybe_unused]] const {0} row = static_cast<{0}>(blockIdx.x) * {1} + static_cast<int>(threadIdx.x) / "
             "{2};\n",
             index_type, shape.rows_per_block(), shape.group) +
         places;
}

std::string WalkText::of_round(std::string_view round) const {
  if (shape.by_columns)
    return fmt::format("[[maybe_unused]] const int tile = {} * {} + member;\n", round, shape.grid / shape.teams);
  return fmt::format(
      "const int number = {0} * {1} + rank;\n[[maybe_unused]] const {2} row = number / {3};\n[[maybe_unused]] const "
      "int tile = number % {3};\n",
      round, shape.grid, index_type, shape.tiles());
}

std::string WalkText::place() const {
  const int64_t vectors = shape.row_vectors();
  const std::string k =
      fmt::format("((tile * {} + warp) * {} + u) * {} + peer", shape.warps(), shape.unroll, shape.lanes());
  const std::string number = fmt::format("const int k = {};\n", k);
  const std::string place = shape.reverse ? fmt::format("({} - k)", vectors - 1) : "k";
  if (!shape.nest.shifted) return number + fmt::format("[[maybe_unused]] const int at = {};\n", place);
  const bool wide = shape.nest.points > INT32_MAX / 2;
  return number + fmt::format(
                      "const int begin = {} * {} - static_cast<int>(static_cast<{}>(row) * {}u % {}u);\n"
                      "[[maybe_unused]] const bool whole = begin >= 0 && begin <= {};\n",
                      place, shape.nest.vector, wide ? "unsigned long long" : "unsigned", shape.extent,
                      shape.nest.vector, shape.extent - shape.nest.vector);
}

std::string WalkText::inside() const {
  std::string out;
  const bool short_round = shape.by_columns && shape.grid > 0 && shape.tiles() * shape.teams % shape.grid != 0;
  if (short_round || shape.row_vectors() % shape.tile() != 0) out = fmt::format("k < {}", shape.row_vectors());
  const bool all = shape.grid > 0 && !shape.by_columns ? shape.rows() * shape.tiles() % shape.grid == 0
                                                       : shape.row_sets() % shape.rows_per_block() == 0;
  if (!all) out += fmt::format("{}row < {}", out.empty() ? "" : " && ", shape.row_sets());
  return out.empty() ? "" : fmt::format("if ({}) ", out);
}

}  // namespace solstice::families::scan
