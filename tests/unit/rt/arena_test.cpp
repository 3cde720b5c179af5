#include "rt/arena.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plans.h"
#include "rt/hex.h"

namespace solstice::rt {
namespace {

Plan mixed_plan() {
  Plan plan;
  plan.buffers = {vector_buffer("x", BufferKind::kInput, 100), vector_buffer("w", BufferKind::kParam, 10),
                  vector_buffer("t", BufferKind::kWorkspace, 30), vector_buffer("y", BufferKind::kOutput, 100)};
  return plan;
}

TEST(Arena, SlotsHaveTheirOwnInputsAndOutputsAndShareParameters) {
  const ArenaLayout layout = lay_out_arena(mixed_plan(), 3, 4096);
  ASSERT_EQ(layout.slots.size(), 3u);
  EXPECT_NE(layout.slots[0][0].offset, layout.slots[1][0].offset);
  EXPECT_EQ(layout.slots[0][1], layout.slots[2][1]);
  EXPECT_NE(layout.slots[1][2].offset, layout.slots[2][2].offset);
  EXPECT_EQ(layout.bytes % (2 << 20), 0);
  for (const auto& slot : layout.slots) {
    for (const ArenaRange& range : slot) EXPECT_EQ(range.offset % 256, 0);
  }
}

TEST(Arena, GapsAndBuffersTileTheWholeArena) {
  const ArenaLayout layout = lay_out_arena(mixed_plan(), 2, 4096);
  std::vector<ArenaRange> all = layout.gaps;
  for (size_t slot = 0; slot < 2; ++slot) {
    for (size_t i = 0; i < 3; ++i) {
      if (slot == 0 || i != 1) all.push_back(layout.slots[slot][i]);
    }
  }
  all.insert(all.end(), layout.workspace_buffers.begin(), layout.workspace_buffers.end());
  std::sort(all.begin(), all.end(), [](const ArenaRange& a, const ArenaRange& b) { return a.offset < b.offset; });
  int64_t at = 0;
  for (const ArenaRange& range : all) {
    EXPECT_EQ(range.offset, at);
    at += range.bytes;
  }
  EXPECT_EQ(at, layout.bytes);
  for (const ArenaRange& gap : layout.gaps) EXPECT_GE(gap.bytes, 4096);
}

TEST(Hex, HandlesSurviveTheTrip) {
  cu::IpcMemHandle handle{};
  for (int i = 0; i < 64; ++i) handle.reserved[i] = static_cast<char>(i * 7);
  const auto back = handle_from_hex(to_hex(handle));
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(std::equal(handle.reserved, handle.reserved + 64, back->reserved));
  EXPECT_FALSE(handle_from_hex("12").ok());
  EXPECT_FALSE(handle_from_hex(std::string(128, 'g')).ok());
}

}  // namespace
}  // namespace solstice::rt
