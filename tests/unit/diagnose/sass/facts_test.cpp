#include "diagnose/sass/facts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "diagnose/sass/operands.h"
#include "diagnose/sass/routines.h"
#include "support/golden.h"
#include "unit/diagnose/sass/texts.h"

namespace solstice::diagnose {
namespace {

using testing::count_of;
using testing::golden_facts;
using testing::sass_text;

int64_t local_bytes(const SassFacts& facts, bool store) {
  int64_t bytes = 0;
  for (const SassAccess& access : facts.mix.accesses) {
    if (access.space == "local" && access.store == store) bytes += access.count * access.bits / 8;
  }
  return bytes;
}

// The record of a kernel, a loop a line.
std::string readable(const std::string& entry, const SassFacts& facts) {
  SassFacts rest = facts;
  rest.loops.clear();
  std::string out = fmt::format("{}\n{}\n", entry, to_json(rest).dump());
  for (const SassLoop& loop : facts.loops) out += to_json(loop).dump() + "\n";
  return out;
}

TEST(SassFactsTest, AreThoseOfTheGoldenFiles) {
  for (const char* name : {"loops", "math", "memory", "wgmma", "gemm"}) {
    std::string text;
    for (const auto& [entry, facts] : golden_facts(name)) text += readable(entry, facts);
    solstice::testing::expect_golden(fmt::format("sass/{}.facts", name), text);
  }
}

TEST(SassFactsTest, SurviveJson) {
  for (const auto& [entry, facts] : golden_facts("math")) {
    const auto again = from_json<SassFacts>(to_json(facts));
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_EQ(to_json(*again), to_json(facts)) << entry;
  }
}

// ptxas, of tests/golden/sass/memory.cu: 488 bytes spill stores, 536 bytes spill loads; local_array has none.
TEST(SassFactsTest, SpillsAreWhatPtxasSays) {
  const SassFacts spill = golden_facts("memory", "spill");
  EXPECT_EQ(local_bytes(spill, true), 488);
  EXPECT_EQ(local_bytes(spill, false), 536);
  EXPECT_EQ(spill.mix.computed_local, 0);
  ASSERT_EQ(spill.loops.size(), 1U);
  EXPECT_GT(count_of(spill.loops[0].mix.named, "LDL"), 0);
}

// ptxas -v of tests/golden/sass/*.cu; it counts two registers that no instruction names.
TEST(SassFactsTest, RegistersAreThoseThatPtxasCounts) {
  constexpr size_t kReserved = 2;
  const std::map<std::string, size_t> registers = {
      {"barrier_in_loop", 12}, {"calls", 9},     {"gather", 16},   {"hash", 10},      {"integers", 28},
      {"local_array", 32},     {"nested", 10},   {"slow_f32", 19}, {"slow_f64", 28},  {"spill", 40},
      {"straight", 10},        {"switches", 14}, {"unrolled", 32}, {"with_break", 14}};
  for (const char* name : {"loops", "math", "memory"}) {
    const std::string text = sass_text(name);
    for (const sass::Function& function : sass::parse_listing(text).functions) {
      sass::Registers used;
      for (const sass::Instruction& at : function.instructions) {
        const sass::Uses uses = sass::uses_of(at);
        used |= uses.reads | uses.writes | uses.addresses;
      }
      size_t highest = 0;
      for (size_t i = 0; i < sass::kThreadRegisters; ++i) highest = used[i] ? i : highest;
      EXPECT_EQ(highest + 1 + kReserved, registers.at(std::string(function.name))) << function.name;
    }
  }
}

TEST(SassFactsTest, ArraysInLocalMemoryAreNoSpills) {
  const SassFacts facts = golden_facts("memory", "local_array");
  ASSERT_EQ(facts.loops.size(), 1U);
  EXPECT_EQ(facts.loops[0].mix.computed_local, 1);
  EXPECT_EQ(local_bytes(facts, true), 128);  // its elements
}

TEST(SassFactsTest, IntegersThatEndInAddressesAreToldApart) {
  const SassFacts gather = golden_facts("memory", "gather");
  ASSERT_EQ(gather.loops.size(), 1U);
  EXPECT_EQ(count_of(gather.loops[0].mix.counts, "address"), 6);
  EXPECT_EQ(count_of(gather.loops[0].mix.counts, "int"), 1);  // counts to the loop's end
  const SassFacts hash = golden_facts("memory", "hash");
  for (const SassLoop& loop : hash.loops) {
    EXPECT_EQ(count_of(loop.mix.counts, "address"), 0);
    EXPECT_GE(count_of(loop.mix.counts, "int"), 3);
  }
}

TEST(SassFactsTest, SlowPathsAreNamedByWhatTheyCompute) {
  const SassFacts f32 = golden_facts("math", "slow_f32");
  ASSERT_EQ(f32.loops.size(), 1U);
  const auto& calls = f32.loops[0].mix.calls;
  EXPECT_EQ(count_of(calls, "division f32"), 1);
  EXPECT_EQ(count_of(calls, "sqrt f32"), 1);
  EXPECT_EQ(count_of(f32.loops[0].mix.named, "FCHK"), 1);
  EXPECT_EQ(count_of(f32.loops[0].mix.named, "MUFU.EX2"), 1);
  ASSERT_EQ(f32.routines.size(), 2U);
  for (const SassRoutine& routine : f32.routines) EXPECT_EQ(routine.calls, 1) << routine.name;

  const SassFacts f64 = golden_facts("math", "slow_f64");
  EXPECT_EQ(count_of(f64.mix.calls, "division f64"), 1);
  EXPECT_EQ(count_of(f64.mix.calls, "sqrt f64"), 1);
  EXPECT_GT(count_of(f64.loops[0].mix.counts, "fp64"), 0);

  const SassFacts integers = golden_facts("math", "integers");
  EXPECT_EQ(count_of(integers.mix.calls, "remainder s64"), 1);
  EXPECT_GE(count_of(integers.mix.named, "I2F.RP"), 1);
}

TEST(SassFactsTest, AFunctionThatIsNotInlinedIsARoutine) {
  const SassFacts facts = golden_facts("math", "calls");
  ASSERT_EQ(facts.routines.size(), 1U);
  EXPECT_EQ(facts.routines[0].name, "callee");
  EXPECT_EQ(facts.routines[0].kind, "function");
  EXPECT_EQ(facts.routines[0].calls, 1);
  ASSERT_EQ(facts.loops.size(), 2U);  // its loop is none of the caller's
  EXPECT_EQ(facts.loops[1].parent, -1);
}

TEST(SassFactsTest, RoutinesOfOtherVersionsHaveTheirKind) {
  EXPECT_EQ(sass::kind_of_routine("$__internal_0_$__cuda_sm20_rcp_rn_f32_slowpath"), "reciprocal f32");
  EXPECT_EQ(sass::kind_of_routine("__cuda_sm20_drsqrt_f64_slowpath_v2"), "rsqrt f64");
  EXPECT_EQ(sass::kind_of_routine("__cuda_sm20_div_u64"), "division u64");
  EXPECT_EQ(sass::kind_of_routine("_Z3divf"), "function");
}

TEST(SassFactsTest, WaitsBetweenProductsOfOneAccumulatorAreFound) {
  EXPECT_EQ(golden_facts("wgmma", "pipelined").drained_wgmma.size(), 0U);
  const SassFacts each_round = golden_facts("wgmma", "drained_each_round");
  ASSERT_EQ(each_round.drained_wgmma.size(), 1U) << "from one round of the loop to the next";
  EXPECT_EQ(each_round.drained_wgmma[0].address, 0x130);
  const SassFacts drained = golden_facts("wgmma", "drained");
  ASSERT_EQ(drained.drained_wgmma.size(), 1U);
  EXPECT_EQ(drained.drained_wgmma[0].file, "wgmma.cu");
  ASSERT_EQ(drained.loops.size(), 1U);
  EXPECT_EQ(drained.loops[0].does, "wgmma");
  EXPECT_EQ(count_of(drained.loops[0].mix.named, "WARPGROUP.DEPBAR"), 1);
}

namespace {

// A loop of products on R24 whose rounds end as given: 0x10 HGMMA, then these, then the branch back and the end.
size_t drains_of_loop(const std::string& first, const std::string& tail) {
  const auto facts = sass_of(".section .text.k\n.other k,@\"STO_CUDA_ENTRY\"\n/*0000*/ MOV R1, R2 ;\n.L_x_1:\n" +
                             first + tail + "/*0100*/ @P0 BRA `(.L_x_1) ;\n.L_x_2:\n/*0110*/ EXIT ;\n");
  return facts.ok() ? facts->at("k").drained_wgmma.size() : 99;
}

}  // namespace

TEST(SassFactsTest, AWaitDrainsWhereEachRoundPassesItAndTheNextAddsOn) {
  const std::string adds = "/*0010*/ HGMMA.64x8x16.F32 R24, gdesc[UR8], R24, gsb0 ;\n";
  const std::string begins = "/*0010*/ HGMMA.64x8x16.F32 R24, gdesc[UR8], RZ, !UPT, gsb0 ;\n";
  const std::string wait = "/*0020*/ WARPGROUP.DEPBAR.LE gsb0, 0x0 ;\n";
  EXPECT_EQ(drains_of_loop(adds, wait), 1U);
  EXPECT_EQ(drains_of_loop(begins, wait), 0U) << "the next round begins at zero";
  EXPECT_EQ(drains_of_loop(adds, "/*0020*/ WARPGROUP.DEPBAR.LE gsb0, 0x1 ;\n"), 0U) << "one stays under way";
  EXPECT_EQ(drains_of_loop(adds, "/*0018*/ @P1 BRA `(.L_x_3) ;\n" + wait + ".L_x_3:\n/*0030*/ MOV R1, R2 ;\n"), 0U)
      << "some rounds go around it";
  EXPECT_EQ(drains_of_loop(adds, wait + "/*0030*/ @P2 EXIT ;\n"), 1U) << "the others go on";
  EXPECT_EQ(drains_of_loop(adds, wait + ".L_x_4:\n/*0030*/ SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R2], R3 ;\n"
                                        "/*0040*/ @!P1 BRA `(.L_x_4) ;\n"),
            1U)
      << "what spins until a stage is there";
}

TEST(SassFactsTest, AGeneratedProductHasItsMainloopAndItsProducer) {
  const auto all = golden_facts("gemm");
  ASSERT_EQ(all.size(), 1U);
  const SassFacts& facts = all.begin()->second;
  EXPECT_EQ(facts.unknown, 0);
  EXPECT_EQ(facts.drained_wgmma.size(), 0U);
  const auto deepest = [&](const char* does) {
    int depth = 0;
    for (const SassLoop& loop : facts.loops)
      depth = std::max(depth, loop.does == does && !loop.per_lane ? loop.depth : 0);
    return depth;
  };
  EXPECT_EQ(deepest("wgmma"), 2);  // over tiles, over K
  EXPECT_GE(deepest("load"), 2);
  EXPECT_GT(count_of(facts.mix.named, "UTMALDG"), 0);
  EXPECT_GT(facts.mix.issue_cycles, facts.mix.instructions);
}

TEST(SassFactsTest, UnknownInstructionsAreCountedAndNamed) {
  const auto facts = sass_of(
      ".section .text.k\n.other k,@\"STO_CUDA_ENTRY\"\n/*0000*/ FROB.X R1, R2 ;\n/*0010*/ FADD R1, R2, R3 ;\n"
      "/*0020*/ EXIT ;\n/*0030*/ GLIB ;\n");
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->at("k").unknown, 0.5);
  EXPECT_EQ(facts->at("k").unknown_names, (std::vector<std::string>{"FROB.X", "GLIB"}));
}

TEST(SassFactsTest, LinesAreOfTheFileThatIsAskedFor) {
  const std::string text =
      ".section .text.k\n.other k,@\"STO_CUDA_ENTRY\"\n.L_x_0:\n"
      "//## File \"/a/math.h\", line 1 inlined at \"/a/prog.ucut\", line 8\n//## File \"/a/prog.ucut\", line 8\n"
      "/*0000*/ FADD R1, R2, R3 ;\n/*0010*/ @P0 BRA `(.L_x_0) ;\n/*0020*/ EXIT ;\n";
  EXPECT_EQ(sass_of(text)->at("k").loops.at(0).line, 1);
  EXPECT_EQ(sass_of(text, {"prog.ucut", {}})->at("k").loops.at(0).line, 8);
  EXPECT_EQ(sass_of(text, {"prog.ucut", {}})->at("k").loops.at(0).file, "/a/prog.ucut");
}

TEST(SassFactsTest, TextWithoutAKernelIsAnError) {
  for (const char* text : {"", "hello\n", ".section .text.k\n.other k,@\"STO_CUDA_ENTRY\"\n"}) {
    const auto facts = sass_of(text);
    ASSERT_FALSE(facts.ok());
    EXPECT_EQ(facts.error().code, Code::bad_record);
  }
}

}  // namespace
}  // namespace solstice::diagnose
