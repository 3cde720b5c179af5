#include "families/gemm/grouped/grouped.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/integer.h"

namespace solstice::families::gemm {
namespace {

constexpr int64_t kStaging = 8 * 2 * 2048;  // of eight warps
constexpr int64_t kTileEntry = 32;          // a tile's description, for every slot and one more

}  // namespace

const std::vector<Tile>& grouped_tiles() {
  static const std::vector<Tile> table = {{128, 256}, {128, 128}};
  return table;
}

GroupedLayout grouped_layout(const Settings& s, int64_t groups, int64_t shared_limit) {
  const int64_t slot = 128 * (s.tile_m + s.tile_n) + 16 + kTileEntry, rest = kStaging + kTileEntry + 4 * (groups + 3);
  const auto most = static_cast<int>((shared_limit - rest) / slot);
  GroupedLayout out;
  out.slots = s.stages > 0 ? s.stages : std::min(most, 8);
  out.shared_bytes = out.slots * slot + rest;
  return out;
}

std::vector<Settings> grouped_settings(Math math) {
  std::vector<Settings> out;
  Settings s;
  s.math = math;
  s.tile_k = stage_k(math);
  for (const Tile tile : grouped_tiles()) {
    s.tile_m = tile.m, s.tile_n = tile.n;
    for (const auto& [along_m, along_n] : {std::pair{1, 1}, {2, 1}, {1, 2}}) {
      s.cluster = along_m, s.cluster_n = along_n;
      out.push_back(s);
    }
  }
  return out;
}

GroupedLists grouped_lists(const Grouping& grouping) {
  GroupedLists out;
  if (grouping.a.at) out.a = out.count++;
  if (grouping.b.at) out.b = out.count++;
  return out;
}

}  // namespace solstice::families::gemm
