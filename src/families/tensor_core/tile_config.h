// Configuration of a warp-specialised kernel on the tensor cores (kernels/gemm/tensor.h): math, tile, cluster, rings of
// stages; and its layout in shared memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "machine/machine.h"
#include "numerics/math.h"

namespace solstice::families::tensor_core {

using numerics::Math;

bool is_built_format(DType dtype);      // multiplied, and stored by epilogues: f32, f16, bf16, e4m3, e5m2
bool is_16_bit_float(DType dtype);      // f16 or bf16
bool is_fp8(DType dtype);               // e4m3 or e5m2
DType operand_dtype(DType a, DType b);  // of both; f32 where they differ (not where both are fp8)

struct TileConfig {
  Math math = Math::kSimt;
  int tile_m = 128, tile_n = 128, tile_k = 64;
  int cluster = 1;      // blocks along M that share B
  int cluster_n = 1;    // blocks along N that share A; one of the two is 1
  int cluster_k = 1;    // there is no other
  int stages = 0;       // of each ring; 0: as many as fit
  int group = 8;        // row tiles walked before the next column of tiles
  int split = 1;        // clusters that share the k of a tile
  bool dual = false;    // two sums share A: half of tile_n are columns of either
  bool scaled = false;  // fp16 planes of wider operands: scales, promotion, range guard and fallback
};

struct Tile {
  int m, n;
};
// Tiles of the kernel, largest first.
const std::vector<Tile>& tiles();
std::string_view tile_list();
bool is_known_tile(const TileConfig& config);

inline int columns_of(const TileConfig& c) { return c.dual ? c.tile_n / 2 : c.tile_n; }  // of the result, in a tile
inline int64_t blocks_of_cluster(const TileConfig& c) { return int64_t{c.cluster} * c.cluster_n; }
bool is_line_scaled(const TileConfig& config);  // a scale covers a whole row or column, not 64 k of it

int element_bytes(Math math);  // of an operand in shared memory
int stage_k(Math math);        // k that one slot of a ring holds

// Shared memory of a block.
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
Layout layout_of(const TileConfig& config, int64_t shared_limit);

std::string kib(int64_t bytes);

}  // namespace solstice::families::tensor_core
