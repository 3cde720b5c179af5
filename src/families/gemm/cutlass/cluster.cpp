#include <algorithm>

#include "base/integer.h"
#include "families/gemm/cutlass/rules.h"

namespace solstice::families::gemm {
namespace {

// Lines of an operand in one atom of its layout in shared memory: 8 where k is contiguous, else the widest swizzle (128
// to 16 bytes) that divides the tile's lines.
int atom_lines(DType type, Major major, int lines) {
  if (major != Major::kMN) return 8;
  for (const int bytes : {128, 64, 32}) {
    if (lines % (bytes / size_of(type)) == 0) return bytes / size_of(type);
  }
  return 16 / size_of(type);
}

bool cuts_into_atoms(const CutlassGemm& c) {
  return c.tile_m % (atom_lines(c.a, c.major_a, c.tile_m) * c.cluster_n) == 0 &&
         c.tile_n % (atom_lines(c.b, c.major_b, c.tile_n) * c.cluster_m) == 0;
}

}  // namespace

void add_cluster_rules(CutlassRules& rules) {
  append(rules, cluster_rules<CutlassGemm>());
  rules.push_back(error_rule<CutlassGemm>(
      "cluster.cp_async", "E112",
      "only TMA writes to the shared memory of other blocks: cp_async schedules have no cluster",
      [](const CutlassGemm& c) { return !c.loads_by_tma() && c.cluster_m * c.cluster_n > 1; },
      [](const CutlassGemm& c) {
        return fmt::format("`{}` with `schedule={}`", cluster_text(c), text_of(kSchedules, c.schedule));
      }));
  rules.push_back(error_rule<CutlassGemm>(
      "cluster.slices", "E112",
      "each block that shares an operand loads a slice of whole swizzle atoms: the tile's rows over the "
      "cluster's columns, and its columns over the cluster's rows, are a multiple of 8 lines, or of up to 128 "
      "bytes if the operand is not contiguous along k",
      [](const CutlassGemm& c) { return !cuts_into_atoms(c); },
      [](const CutlassGemm& c) {
        return fmt::format("`{}` does not divide `{}` into whole swizzle atoms", cluster_text(c), tile_text(c));
      }));
  rules.push_back(warning_rule<CutlassGemm>(
      "cluster.grid", "W112", "a cluster larger than the grid of tiles leaves blocks idle",
      [](const CutlassGemm& c) {
        return c.m > 0 && c.n > 0 && (c.cluster_m > ceil_div(c.m, c.tile_m) || c.cluster_n > ceil_div(c.n, c.tile_n));
      },
      [](const CutlassGemm& c) {
        return fmt::format("`{}` over {}x{} tiles", cluster_text(c), ceil_div(c.m, c.tile_m), ceil_div(c.n, c.tile_n));
      }));
}

}  // namespace solstice::families::gemm
