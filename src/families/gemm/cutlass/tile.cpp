#include <algorithm>

#include "families/gemm/cutlass/rules.h"

namespace solstice::families::gemm {
namespace {

constexpr int kMostRegisters = 255,
              kManyRegisters = 208;  // of accumulators a thread; CUTLASS itself changes its split at 208

bool legal_columns(const CutlassGemm& c) {
  const int n = c.tile_n;
  if (n % 8 != 0) return false;
  if (is_integer(c.a) && is_integer(c.b) && n != 8 && n != 24 && n % 16 != 0) return false;
  return c.epilogue == CutlassEpilogue::kNoSmem || n == 8 || n % 16 == 0;
}

int least_instructions(const CutlassGemm& c) { return size_of(c.a) != size_of(c.b) ? 4 : c.from_registers() ? 3 : 1; }

void add_extents(CutlassRules& rules) {
  rules.push_back(error_rule<CutlassGemm>(
      "tile.largest", "E111", "no extent of a tile is above 256",
      [](const CutlassGemm& c) {
        return std::max({c.tile_m, c.tile_n, c.tile_k}) > 256 || std::min({c.tile_m, c.tile_n, c.tile_k}) < 1;
      },
      [](const CutlassGemm& c) { return fmt::format("`{}`: extents are 1 to 256", tile_text(c)); }));
  rules.push_back(error_rule<CutlassGemm>(
      "tile.rows", "E111", "the rows of a tile are a multiple of 64, those of one wgmma",
      [](const CutlassGemm& c) { return c.tile_m % 64 != 0; },
      [](const CutlassGemm& c) { return fmt::format("`{}`: {} rows are no multiple of 64", tile_text(c), c.tile_m); }));
  rules.push_back(error_rule<CutlassGemm>(
      "tile.rows_shared", "E111",
      "two cooperating warpgroups share the rows of a tile: a multiple of 128 (192 fails in CUTLASS's layouts)",
      [](const CutlassGemm& c) { return c.is_cooperative() && c.tile_m % 128 != 0; },
      [](const CutlassGemm& c) {
        return fmt::format("`{}`: two warpgroups cannot share {} rows", tile_text(c), c.tile_m);
      }));
  rules.push_back(error_rule<CutlassGemm>(
      "tile.columns", "E111",
      "the columns of a tile are a multiple of 8; with an epilogue through shared memory of 16, or 8; of 8-bit "
      "integers 8, 24 or a "
      "multiple of 16",
      [](const CutlassGemm& c) { return !legal_columns(c); },
      [](const CutlassGemm& c) {
        return fmt::format("`{}`: no instruction and epilogue for {} columns", tile_text(c), c.tile_n);
      }));
}

void add_depth(CutlassRules& rules) {
  rules.push_back(error_rule<CutlassGemm>(
      "tile.depth", "E111",
      "k of a tile is a multiple of one instruction's (16 of 16-bit, 8 of TF32, 32 of 8-bit operands)",
      [](const CutlassGemm& c) { return c.tile_k % c.k_instruction() != 0; },
      [](const CutlassGemm& c) {
        return fmt::format("`{}`: an instruction adds up {} k", tile_text(c), c.k_instruction());
      }));
  rules.push_back(error_rule<CutlassGemm>(
      "tile.depth_registers", "E111",
      "an operand that goes through registers needs a tile whose k is more than two instructions' (at least "
      "four for mixed widths)",
      [](const CutlassGemm& c) { return c.tile_k < least_instructions(c) * c.k_instruction(); },
      [](const CutlassGemm& c) {
        return fmt::format("`{}`: an operand goes through registers, which takes k of at least {}", tile_text(c),
                           least_instructions(c) * c.k_instruction());
      }));
  rules.push_back(error_rule<CutlassGemm>(
      "tile.tf32_transposed", "E111",
      "TF32 with both operands contiguous along their rows is transposed in shared memory: k of a tile is exactly 32",
      [](const CutlassGemm& c) { return is_tf32(c) && both(c, Major::kMN) && c.tile_k != 32; },
      [](const CutlassGemm& c) {
        return fmt::format("`{}`: TF32 of transposed operands needs a k of 32", tile_text(c));
      }));
  rules.push_back(error_rule<CutlassGemm>(
      "tile.tf32_columns", "E111",
      "TF32: the columns of a tile are a multiple of its k (unless both operands are transposed)",
      [](const CutlassGemm& c) { return is_tf32(c) && !both(c, Major::kMN) && c.tile_n % c.tile_k != 0; },
      [](const CutlassGemm& c) {
        return fmt::format("`{}`: {} columns are no multiple of k {}", tile_text(c), c.tile_n, c.tile_k);
      }));
}

void add_registers(CutlassRules& rules) {
  rules.push_back(error_rule<CutlassGemm>(
      "tile.registers", "E111",
      "a thread holds fewer than 256 sums: from there on CUTLASS compiles, wgmma is serialised and sums are spilled "
      "(8-bit floats with "
      "slow accumulation hold twice as many)",
      [](const CutlassGemm& c) { return c.accumulators() > kMostRegisters; },
      [](const CutlassGemm& c) {
        return fmt::format("`{}`: {} sums a thread do not fit its registers", tile_text(c), c.accumulators());
      }));
  rules.push_back(warning_rule<CutlassGemm>(
      "tile.many_registers", "W111", "above 208 sums a thread leave few registers for anything else",
      [](const CutlassGemm& c) { return c.accumulators() > kManyRegisters; },
      [](const CutlassGemm& c) { return fmt::format("`{}`: {} sums a thread", tile_text(c), c.accumulators()); }));
  rules.push_back(warning_rule<CutlassGemm>(
      "tile.narrow_instruction", "W111",
      "columns beside 8, 16, 32, 64, 96, 128, 192 and 256 need CUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED: without it they "
      "are cut into smaller "
      "instructions",
      [](const CutlassGemm& c) {
        constexpr std::array<int, 8> kWide = {8, 16, 32, 64, 96, 128, 192, 256};
        return std::find(kWide.begin(), kWide.end(), c.tile_n) == kWide.end();
      },
      [](const CutlassGemm& c) {
        return fmt::format("`{}`: {} columns are no default instruction", tile_text(c), c.tile_n);
      }));
}

}  // namespace

void add_tile_rules(CutlassRules& rules) {
  add_extents(rules);
  add_depth(rules);
  add_registers(rules);
}

}  // namespace solstice::families::gemm
