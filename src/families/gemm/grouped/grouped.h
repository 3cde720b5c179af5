// Grouped products (kernels/gemm/grouped.h): settings, shared memory, sources and launches.
//
// Two launches: one block sorts the rows by group (kernels/gemm/group_rows.h) and leaves a table, the product reads it.
#pragma once

#include <vector>

#include "families/gemm/settings.h"

namespace solstice::families::gemm {

struct GroupedLayout {
  int slots = 2;
  int64_t shared_bytes = 0;
};
GroupedLayout grouped_layout(const Settings& settings, int64_t groups, int64_t shared_limit);

// Operands are multiplied as they are.
inline Math grouped_math(const Problem& problem) {
  return problem.product.a.dtype == DType::kF16 ? Math::kFP16 : Math::kBF16;
}
const std::vector<Tile>& grouped_tiles();
std::vector<Settings> grouped_settings(Math math);

// Rows of an operand that the sort writes down, and the list of the table that holds them (0: those of the result).
struct GroupedLists {
  int a = 0, b = 0, count = 1;
};
GroupedLists grouped_lists(const Grouping& grouping);

Result<Emission> generate_grouped(const Context& context, const ir::Kernel& kernel, const Problem& problem,
                                  const Settings& settings);

}  // namespace solstice::families::gemm
