// The knobs of family gemm as values, with `auto` resolved for a problem, and what they cost in shared
// memory.
#pragma once

#include <string>
#include <vector>

#include "families/family.h"
#include "families/gemm/problem.h"
#include "numerics/math.h"

namespace solstice::families::gemm {

using numerics::Math;

// The operand that a kernel reads once, in its own format, instead of planes made by a pass beforehand: that of the
// result's rows (A) or columns (B).
enum class Streamed { kNone, kRows, kColumns };

struct Settings {
  Math math = Math::kSimt;
  int tile_m = 128, tile_n = 128, tile_k = 64;
  int cluster = 1;    // blocks along M that share B
  int cluster_n = 1;  // blocks along N that share A; one of the two is 1
  int cluster_k = 1;  // there is no other
  int stages = 0;     // of each ring; 0: as many as fit
  int group = 8;      // row tiles walked before the next column of tiles
  Streamed stream = Streamed::kNone;
  int split = 1;         // blocks (of tiles: clusters) that share the k of a tile
  bool prepack = false;  // weights are split once, at load
  bool dual = false;     // two sums share A: half of tile_n are columns of either
  bool scaled = false;   // fp16 planes of wider operands: scales, promotion, range guard and fallback
};

// Clusters that are resident at once, a block an SM. Larger ones than two must lie in one GPC, whose SMs they do not
// divide.
int64_t clusters_at_once(const machine::Machine& machine, int64_t blocks);

inline bool is_tiled(const Settings& s) {
  return s.math != Math::kSimt && s.stream == Streamed::kNone;
}  // on tensor cores
inline int columns_of(const Settings& s) { return s.dual ? s.tile_n / 2 : s.tile_n; }  // of the result, in a tile

// What a tensor-core configuration occupies.
struct Layout {
  int n = 128;     // columns of one instruction
  int halves = 1;  // column halves of the tile, taken in turn; of two sums one each
  int boxes = 1;   // of one instruction's columns: 2 where half of them are of another sum
  int groups = 2;  // consumer warpgroups
  int slots_a = 2, slots_b = 2;
  int64_t slot_a = 0, slot_b = 0, staging = 0, scales = 0, barriers = 0;  // bytes
  int64_t bytes() const { return slots_a * slot_a + slots_b * slot_b + staging + scales + barriers; }
  std::string text() const;  // "A 2 x 32 KiB + B 4 x 32 KiB + staging 32 KiB + ..."
};

const std::vector<KnobSpec>& knob_table();
std::string_view tile_list();
const std::string& usual_value(std::string_view knob);  // where it is not written
DType operand_dtype(const Contraction& product);        // of both; f32 where they differ (not where both are fp8)
DType operand_dtype(const Problem& problem);
std::vector<Math> allowed_maths(const Context& context, const Problem& problem);
std::string kib(int64_t bytes);

inline constexpr int kSmallTile = 32;  // of math=simt for small results (kernels/gemm/small.h)

// The tiles there are, largest first.
struct Tile {
  int m, n;
};
const std::vector<Tile>& tiles();

// Knobs as written, `auto` resolved by what the numerics policy allows and the shape prefers.
Settings settings_of(const Context& context, const ir::Kernel& kernel, const Problem& problem);
Layout layout_of(const Settings& settings, int64_t shared_limit);

std::string_view name_of(Streamed stream);  // as the knob is written
int element_bytes(Math math);               // of an operand in shared memory
int stage_k(Math math);                     // k that one slot of a ring holds
bool is_scaled(Math math, const Problem& problem);
bool is_line_scaled(const Settings& settings);  // a scale covers a whole row or column, not 64 k of it
bool needs_planes(const Settings& settings, const OperandAccess& operand, Major major);
bool is_packed(const ir::Program& program, const Settings& settings, const OperandAccess& operand);

}  // namespace solstice::families::gemm
