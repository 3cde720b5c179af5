#include "families/tensor_core/tile_config.h"

#include <fmt/format.h>

#include <algorithm>

namespace solstice::families::tensor_core {
namespace {

constexpr int64_t kStageRow = 128;      // bytes along k of one line in a slot
constexpr int64_t kStagingWarp = 4096;  // two buffers of 16 x 32 floats

}  // namespace

bool is_built_format(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16 || is_fp8(dtype);
}

bool is_16_bit_float(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16; }
bool is_fp8(DType dtype) { return dtype == DType::kE4M3 || dtype == DType::kE5M2; }

DType operand_dtype(DType a, DType b) { return a == b || (is_fp8(a) && is_fp8(b)) ? a : DType::kF32; }

std::string kib(int64_t bytes) {
  return bytes % 1024 ? fmt::format("{} B", bytes) : fmt::format("{} KiB", bytes / 1024);
}

const std::vector<Tile>& tiles() {
  static const std::vector<Tile> table = {{128, 256}, {128, 128}, {128, 64}, {64, 256}, {64, 128}, {64, 64}};
  return table;
}

bool is_known_tile(const TileConfig& c) {
  return std::any_of(tiles().begin(), tiles().end(), [&](Tile t) { return t.m == c.tile_m && t.n == c.tile_n; });
}

std::string_view tile_list() { return "128x256, 128x128, 128x64, 64x256, 64x128, 64x64"; }

int stage_k(Math math) { return math == Math::kSimt ? 8 : static_cast<int>(kStageRow) / element_bytes(math); }

int element_bytes(Math math) { return math == Math::kTF32 || math == Math::kTF32x3 ? 4 : math == Math::kFP8 ? 1 : 2; }

bool is_line_scaled(const TileConfig& s) { return s.scaled && numerics::info(s.math).planes == 1; }

std::string Layout::text() const {
  std::string out =
      fmt::format("A {} x {} + B {} x {} + staging {}", slots_a, kib(slot_a), slots_b, kib(slot_b), kib(staging));
  if (scales) out += fmt::format(" + scales {}", kib(scales));
  return out + fmt::format(" + barriers {} = {}", kib(barriers), kib(bytes()));
}

Layout layout_of(const TileConfig& s, int64_t shared_limit) {
  const numerics::MathInfo& how = numerics::info(s.math);
  const bool by_chunk = s.scaled && !is_line_scaled(s), promoted = how.promoted || by_chunk;
  Layout out;
  out.groups = s.tile_m / 64;
  // With promotion an instruction covers 128 columns at most, so that sums and accumulator fit the registers.
  out.n = !promoted ? s.tile_n : s.dual ? s.tile_n / 2 : std::min(s.tile_n, 128);
  out.halves = s.tile_n / out.n;
  out.boxes = s.dual && !promoted ? 2 : 1;
  out.slot_a = how.planes * s.tile_m * kStageRow;
  out.slot_b = how.planes * out.n * kStageRow;
  out.staging = 4 * out.groups * kStagingWarp;
  // B's ring is deeper by the halves of a tile: both rings then hold the same k.
  const auto set = [&](int stages) {
    out.slots_a = stages;
    out.slots_b = stages * out.halves;
    // One more slot of scales than of planes (kernels/gemm/tensor_config.h).
    out.scales = by_chunk ? (out.slots_a + 1) * s.tile_m + (out.slots_b + 1) * 4 * out.n : 0;
    out.barriers = 16 * (out.slots_a + out.slots_b);
  };
  int stages = s.stages > 0 ? s.stages : 2;
  set(stages);
  while (s.stages == 0 && stages < 8) {
    set(stages + 1);
    if (out.bytes() > shared_limit) break;
    ++stages;
  }
  set(stages);
  return out;
}

}  // namespace solstice::families::tensor_core
