#include "diagnose/sass/loops.h"

#include <gtest/gtest.h>

#include "unit/diagnose/sass/texts.h"

namespace solstice::diagnose {
namespace {

using testing::count_of;
using testing::golden_facts;

// A kernel `k` of these lines; each instruction is 16 bytes.
std::string kernel_text(const std::vector<std::string>& lines) {
  std::string out = ".section .text.k,\"ax\"\n.other k,@\"STO_CUDA_ENTRY STV_DEFAULT\"\n";
  int address = 0;
  char number[16];
  for (const std::string& line : lines) {
    if (line.back() == ':') {
      out += line + "\n";
      continue;
    }
    std::snprintf(number, sizeof number, "/*%04x*/ ", static_cast<unsigned>(address));
    out += number + line + " ;\n";
    address += 16;
  }
  return out;
}

SassFacts facts_of_kernel(const std::vector<std::string>& lines) {
  const auto facts = sass_of(kernel_text(lines));
  EXPECT_TRUE(facts.ok()) << facts.error().text();
  return facts.ok() ? facts->at("k") : SassFacts();
}

TEST(SassLoops, OfNestedLoopsTheInnerOneIsTheDeepest) {
  const SassFacts facts = golden_facts("loops", "nested");
  int depth = 0;
  for (const SassLoop& loop : facts.loops) depth = std::max(depth, loop.depth);
  ASSERT_EQ(depth, 2);
  const SassLoop& inner = facts.loops.back();
  EXPECT_EQ(inner.depth, 2);
  ASSERT_GE(inner.parent, 0);
  const SassLoop& outer = facts.loops[static_cast<size_t>(inner.parent)];
  EXPECT_LT(outer.first, inner.first);
  EXPECT_GT(outer.last, inner.last);
  EXPECT_EQ(count_of(inner.mix.counts, "load"), 1);
  EXPECT_EQ(count_of(inner.mix.counts, "fp32"), 1);
  EXPECT_EQ(inner.file, "loops.cu");
  EXPECT_EQ(inner.line, 7);
  EXPECT_EQ(inner.does, "load");
}

TEST(SassLoops, ABreakAndAnUnrolledRestDoNotHideThem) {
  EXPECT_EQ(golden_facts("loops", "with_break").loops.size(), 1U);
  const SassFacts unrolled = golden_facts("loops", "unrolled");
  ASSERT_EQ(unrolled.loops.size(), 2U);
  EXPECT_EQ(count_of(unrolled.loops[0].mix.counts, "load"), 4 * count_of(unrolled.loops[1].mix.counts, "load"));
  EXPECT_EQ(unrolled.loops[0].mix.accesses[0].bits, 128);
  EXPECT_EQ(golden_facts("loops", "straight").loops.size(), 0U);
}

TEST(SassLoops, ABarrierInsideIsCounted) {
  const SassFacts facts = golden_facts("loops", "barrier_in_loop");
  ASSERT_EQ(facts.loops.size(), 1U);
  EXPECT_EQ(count_of(facts.loops[0].mix.named, "BAR.SYNC"), 1);
  EXPECT_EQ(count_of(facts.mix.named, "BAR.SYNC"), 2);
}

TEST(SassLoops, IndirectBranchesAreFollowed) {
  const SassFacts facts = golden_facts("loops", "switches");
  ASSERT_EQ(facts.loops.size(), 1U);
  EXPECT_EQ(facts.in_part, "");
}

TEST(SassLoops, AnIndirectBranchWithoutTargetsIsSaid) {
  const SassFacts facts = facts_of_kernel({".L_x_0:", "BRX R2 -0x10", "FADD R1, R1, R1", "@P0 BRA `(.L_x_0)", "EXIT"});
  EXPECT_EQ(facts.in_part, "the targets of some branches are not known");
}

TEST(SassLoops, AddressesWithoutLabelsGiveTheSameLoops) {
  const auto by_label = golden_facts("loops");
  const auto by_address = golden_facts("loops.cuobjdump");
  ASSERT_EQ(by_label.size(), by_address.size());
  for (const auto& [entry, facts] : by_label) {
    if (entry == "switches") continue;  // cuobjdump names no targets of its branches
    const SassFacts& other = by_address.at(entry);
    ASSERT_EQ(facts.loops.size(), other.loops.size()) << entry;
    EXPECT_EQ(facts.mix.counts, other.mix.counts) << entry;
    EXPECT_EQ(facts.mix.issue_cycles, other.mix.issue_cycles) << entry;
    for (size_t i = 0; i < facts.loops.size(); ++i) EXPECT_EQ(facts.loops[i].first, other.loops[i].first);
  }
}

// As ptxas lays out a wait for a barrier: the second try lies behind the kernel and comes back.
TEST(SassLoops, CodeOutOfLineIsNoLoopAroundWhatItComesBackTo) {
  const SassFacts facts =
      facts_of_kernel({"MOV R1, RZ", ".L_x_1:", "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R2", "@!P0 BRA `(.L_x_3)",
                       ".L_x_2:", "FADD R3, R3, R4", "FADD R3, R3, R5", "@P1 BRA `(.L_x_1)", "EXIT",
                       ".L_x_3:", "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R2", "@!P0 BRA `(.L_x_3)", "BRA `(.L_x_2)",
                       ".L_x_4:", "BRA `(.L_x_4)", "NOP"});
  ASSERT_EQ(facts.loops.size(), 2U);
  EXPECT_EQ(facts.loops[0].first, 0x10);
  EXPECT_EQ(facts.loops[0].last, 0x50);
  ASSERT_EQ(facts.loops[0].pieces.size(), 2U);
  EXPECT_EQ(facts.loops[0].pieces[1].first, 0x70);
  EXPECT_EQ(facts.loops[0].pieces[1].last, 0x90);
  EXPECT_EQ(facts.loops[0].does, "compute");
  EXPECT_EQ(facts.loops[1].parent, 0);
  EXPECT_EQ(facts.loops[1].does, "wait");
  EXPECT_EQ(facts.mix.instructions, 10);  // the trap and what fills up are left out
}

TEST(SassLoops, ConvergenceIsNoBranch) {
  const SassFacts facts =
      facts_of_kernel({".L_x_0:", "BSSY B0, `(.L_x_2)", "@!P0 BRA `(.L_x_1)", "FADD R1, R1, R1", ".L_x_1:", "BSYNC B0",
                       ".L_x_2:", "WARPSYNC.COLLECTIVE R0, `(.L_x_3)", "NOP", ".L_x_3:", "@P1 BRA `(.L_x_0)", "EXIT"});
  ASSERT_EQ(facts.loops.size(), 1U);
  EXPECT_EQ(facts.loops[0].mix.instructions, 7);
}

TEST(SassLoops, ABranchUnderAConditionAmongItsOperandsFallsThrough) {
  const SassFacts facts = facts_of_kernel({".L_x_0:", "FADD R1, R1, R1", "BRA UP0, `(.L_x_2)", "BRA.DIV UR4, `(.L_x_2)",
                                           "@P0 BRA `(.L_x_0)", ".L_x_2:", "EXIT"});
  ASSERT_EQ(facts.loops.size(), 1U);
  EXPECT_EQ(facts.loops[0].mix.instructions, 4);
}

TEST(SassLoops, ALoopOverLanesIsCalledSo) {
  const SassFacts facts = facts_of_kernel(
      {".L_x_0:", "@P0 ELECT P3, URZ, PT", "UTMALDG.3D [UR8], [UR4]", "@P0 BRA.U.ANY `(.L_x_0)", "EXIT"});
  ASSERT_EQ(facts.loops.size(), 1U);
  EXPECT_TRUE(facts.loops[0].per_lane);
  EXPECT_EQ(facts.loops[0].does, "load");
  EXPECT_EQ(count_of(facts.loops[0].mix.named, "UTMALDG"), 1);
}

TEST(SassLoops, TwoBackwardBranchesToOneHeadAreOneLoop) {
  const SassFacts facts = facts_of_kernel(
      {".L_x_0:", "FADD R1, R1, R1", "@P0 BRA `(.L_x_0)", "FADD R1, R1, R1", "@P1 BRA `(.L_x_0)", "EXIT"});
  ASSERT_EQ(facts.loops.size(), 1U);
  EXPECT_EQ(facts.loops[0].last, 0x30);
}

}  // namespace
}  // namespace solstice::diagnose
