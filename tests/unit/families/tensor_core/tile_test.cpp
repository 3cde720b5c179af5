// Tiles on the tensor cores without a family: configuration, shared memory, tensor maps, and rules for a configuration
// that no product of matrices has.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "families/tensor_core/launch.h"
#include "families/tensor_core/tile_cost.h"
#include "families/tensor_core/tile_rules.h"
#include "unit/families/h200.h"

namespace solstice::families::tensor_core {
namespace {

constexpr int64_t kShared = 227 * 1024;

TileConfig halves(int m, int n) {
  TileConfig out;
  out.math = Math::kFP16;
  out.tile_m = m, out.tile_n = n, out.tile_k = stage_k(out.math);
  return out;
}

// An implicit GEMM: 64 images of 56 x 56, 128 filters of 3 x 3 x 64.
Product implicit() {
  Product out;
  out.m = 64 * 56 * 56, out.n = 128, out.k = 9 * 64;
  return out;
}

class PixelTiles {
 public:
  explicit PixelTiles(const TileConfig& tile) : tile_(tile) {}
  const TileConfig& tile() const { return tile_; }
  TileConfig& tile() { return tile_; }
  bool is_tiled() const { return tile_.math != Math::kSimt; }
  bool is_row_resident() const { return false; }
  std::string cluster_text() const { return fmt::format("{}x{}", tile_.cluster, tile_.cluster_n); }
  std::string stages_text() const { return std::to_string(tile_.stages); }
  Product product() const { return implicit(); }
  const Epilogue& epilogue() const { return epilogue_; }
  int64_t shared_limit() const { return kShared; }
  void leave_tensor_cores() { tile_.math = Math::kSimt; }
  std::vector<std::pair<std::string, std::string>> knobs() const {
    return {{"tile", fmt::format("{}x{}x{}", tile_.tile_m, tile_.tile_n, tile_.tile_k)},
            {"cluster", cluster_text()},
            {"stages", stages_text()},
            {"split", std::to_string(tile_.split)}};
  }

 private:
  TileConfig tile_;
  Epilogue epilogue_;
};

const std::vector<Rule<PixelTiles>>& rules() {
  static const std::vector<Rule<PixelTiles>> table = {
      split_rule<PixelTiles>(),        unshared_rule<PixelTiles>(),  tile_rule<PixelTiles>(),
      tile_k_rule<PixelTiles>(),       dual_tile_rule<PixelTiles>(), row_resident_rule<PixelTiles>(),
      cluster_rule<PixelTiles>("1x1"), stages_rule<PixelTiles>(),    shared_memory_rule<PixelTiles>()};
  return table;
}

TEST(TensorCoreTiles, RingsFillSharedMemory) {
  for (const Tile tile : tiles()) {
    const Layout layout = layout_of(halves(tile.m, tile.n), kShared);
    EXPECT_LE(layout.bytes(), kShared);
    EXPECT_GE(layout.slots_a, 2);
    EXPECT_TRUE(layout.slots_a == 8 || layout.bytes() + layout.slot_a + layout.slot_b > kShared) << layout.text();
  }
}

TEST(TensorCoreTiles, RulesJudgeAnyFamilysConfiguration) {
  EXPECT_EQ(first_broken(rules(), PixelTiles(halves(128, 256))), nullptr);
  TileConfig odd = halves(100, 256);
  odd.cluster = 4, odd.stages = 12, odd.split = 1000, odd.tile_k = 7;
  const auto legal = nearest_legal(rules(), PixelTiles(odd));
  ASSERT_TRUE(legal);
  EXPECT_EQ(knobs_changed(PixelTiles(odd), *legal), "`tile=128x256x64, cluster=2x1, stages=4, split=128`");
  for (const auto& [changed, id] : std::vector<std::pair<void (*)(TileConfig&), std::string_view>>{
           {[](TileConfig& c) { c.tile_n = 96; }, "lean.tile"},
           {[](TileConfig& c) { c.cluster = c.cluster_n = 2; }, "lean.cluster"},
           {[](TileConfig& c) { c.stages = 1; }, "lean.stages"},
           {[](TileConfig& c) { c.stages = 8; }, "lean.shared"},
           {[](TileConfig& c) { c.split = 0; }, "lean.split_tiles"}}) {
    TileConfig c = halves(128, 256);
    changed(c);
    const auto* const rule = first_broken(rules(), PixelTiles(c));
    ASSERT_TRUE(rule) << id;
    EXPECT_EQ(rule->id, id);
    EXPECT_FALSE(rule->reason(PixelTiles(c)).empty());
  }
}

TEST(TensorCoreTiles, OperandMapsHaveAnyRank) {
  const TensorMap map = operand_map(
      {.buffer = "x", .dtype = DType::kF16, .extents = {64, 56, 56, 64}, .strides = {128, 128 * 56, 128 * 56 * 56}},
      {8, 16});
  EXPECT_EQ(map.box, (std::vector<int64_t>{64, 8, 16, 1}));
  EXPECT_EQ(map.swizzle, 128);
  EXPECT_EQ(map.strides.size(), 3u);
}

// More work takes longer, and stream-K fills a last round that is nearly empty.
TEST(TensorCoreTiles, TimeFollowsTheRounds) {
  const ir::Program program;
  const Epilogue epilogue;
  const auto time = [&](const Product& product, int split) {
    TileConfig c = halves(128, 128);
    c.split = split;
    return compute_time({program, h200(), product, epilogue, c});
  };
  Product few = implicit(), more = implicit();
  few.m = 128 * h200().sm_count, more.m = few.m + 128;
  few.k = more.k = 64 * 1024;
  EXPECT_LT(time(few, 1), time(more, 1));
  EXPECT_LT(time(more, 2), time(more, 1));
  EXPECT_EQ(stream_k(h200(), few, halves(128, 128)).shared, 0);
}

}  // namespace
}  // namespace solstice::families::tensor_core
