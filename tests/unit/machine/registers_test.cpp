#include "machine/registers.h"

#include <gtest/gtest.h>

namespace solstice::machine {
namespace {

// Expected: cudaOccMaxActiveBlocksPerMultiprocessor() of the toolkit's header, by hand.
TEST(Registers, AreThoseOfEachQuarterOfAnSm) {
  const Machine h200 = load_machine("h200").value();
  EXPECT_EQ(blocks_by_registers(h200, 128, 128), 4);
  EXPECT_EQ(blocks_by_registers(h200, 256, 40), 6) << "12 warps in each quarter, not 12.8";
  EXPECT_EQ(blocks_by_registers(h200, 160, 80), 4) << "6 warps in each quarter, 5 a block";
  EXPECT_EQ(blocks_by_registers(h200, 32, 255), 8);
  EXPECT_EQ(blocks_by_registers(h200, 1024, 64), 1);
  EXPECT_EQ(blocks_by_registers(h200, 1024, 65), 0);
}

// 9 warps of 224 registers are fewer than an SM has, but a launch needs them as if there were 12.
TEST(Registers, ALaunchNeedsThemInEveryQuarter) {
  const Machine h200 = load_machine("h200").value();
  EXPECT_EQ(registers_of_block(h200, 288, 224), 12 * 224 * 32);
  EXPECT_EQ(blocks_by_registers(h200, 288, 224), 0);
  EXPECT_EQ(registers_of_block(h200, 256, 224), 8 * 224 * 32);
}

}  // namespace
}  // namespace solstice::machine
