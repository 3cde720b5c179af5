// Encodings that NVRTC 13.0.88 wrote, and what nvdisasm prints of them.
#include "toolchain/machine_code.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace solstice::toolchain {
namespace {

// "R4 R5", "UR2 P0": in the order of the numbers.
std::string named(const std::vector<MachineOperand>& operands) {
  std::set<int> all;
  for (const MachineOperand& operand : operands) {
    for (int i = 0; i < operand.count && operand.first >= 0; ++i) all.insert(operand.first + i);
  }
  std::string out;
  for (const int at : all) {
    const bool uniform = (at >= kUniformRegister && at < kPredicate) || at >= kUniformPredicate;
    const bool predicate = at >= kPredicate;
    const int base = predicate ? (uniform ? kUniformPredicate : kPredicate) : uniform ? kUniformRegister : 0;
    out += (out.empty() ? "" : " ") + std::string(uniform ? "U" : "") + (predicate ? "P" : "R") +
           std::to_string(at - base);
  }
  return out;
}

struct Encoding {
  uint64_t first, second;
  const char *name, *reads, *writes;
};

TEST(MachineCode, Operands) {
  constexpr Encoding kEncodings[] = {
      {0x0000006600067ab9, 0x000fce0000000a00, "ULDC", "", "UR6 UR7"},  // c[0x0][0x198]
      {0x000000b004047890, 0x000fe2000f81e03f, "UIADD3", "UR4", "UR4 UP0"},
      {0x0000001005097211, 0x000fe200078e18ff, "LEA", "R5 R16", "R9"},
      {0x00000008040075b4, 0x0005d80008010000, "UTMALDG", "UR4 UR5 UR8 UR9 UR10 UR11 UR12", ""},
      {0x00001008140073b4, 0x0003f00008061807, "UTMALDG", "UR7 UR8 UR9 UR10 UR11 UR12 UR13 UR14 UR16 UR17 UR20 UR21",
       ""},
      {0x00000608140073b5, 0x0005e40008009000, "UTMASTG", "UR6 UR7 UR8 UR9 UR10 UR20 UR21", ""},
      {0x0000000a040075b8, 0x000fe20008008000, "UTMAPF", "UR4 UR5 UR10 UR11", ""},
      {0x00000000140079b9, 0x0003e20008000000, "UTMACCTL", "UR20 UR21", ""},
      {0x0000000406007986, 0x0083e2000c101b04, "STG", "R4 R5 R6 R7 UR4 UR5", ""},
      {0x0000000902ff73a8, 0x0012a400041ee100, "ATOMG", "R2 R3 R9 R10 R11 R12", ""},
      {0x00000004060073ba, 0x0043e20008000408, "UBLKCP", "UR4 UR5 UR6 UR7 UR8", ""},
      {0x0000000002007dbd, 0x001fe8000c00083f, "STAS", "R0 R1 R2 R3", ""},
      {0x01e00000081879f0, 0x000fe20008701818, "HGMMA",
       "R24 R25 R26 R27 R28 R29 R30 R31 R32 R33 R34 R35 R36 R37 R38 R39 R40 R41 R42 R43 R44 R45 R46 R47 R48 R49 R50 "
       "R51 R52 R53 R54 R55 R56 R57 R58 R59 R60 R61 R62 R63 R64 R65 R66 R67 R68 R69 R70 R71 R72 R73 R74 R75 R76 R77 "
       "R78 R79 R80 R81 R82 R83 R84 R85 R86 R87 UR8 UR9 UR10 UR11",
       "R24"},
      {0x0020001c24187df0, 0x000fe20008700818, "HGMMA", "R24 R25 R26 R27 R28 R29 R30 R31 R36 R37 R38 R39 UR30 UR31",
       "R24"},
  };
  for (const Encoding& each : kEncodings) {
    const MachineInstruction found = machine_instruction(each.first, each.second, 0);
    EXPECT_EQ(found.name, each.name);
    EXPECT_EQ(named(found.reads), each.reads) << each.name;
    EXPECT_EQ(named(found.writes), each.writes) << each.name;
  }
}

TEST(MachineCode, Control) {
  const MachineInstruction back = machine_instruction(0xfffffffc0058b947, 0x000fea000203ffff, 0x1d40);
  EXPECT_EQ(back.name, "BRA");
  EXPECT_EQ(back.target, 0x1ab0);
  EXPECT_EQ(back.guard, kPredicate + 3);
  EXPECT_TRUE(back.negated);
  EXPECT_FALSE(back.always);
  EXPECT_FALSE(back.by_guard_alone);  // `BRA P4`
  const MachineInstruction loop = machine_instruction(0xfffffffd00ec0947, 0x002fea000393ffff, 0x1c20);
  EXPECT_TRUE(loop.together);  // `.U.ANY`
  EXPECT_TRUE(machine_instruction(0x0000000000707947, 0x000fea0003800000, 0xd90).always);
  const MachineInstruction scope = machine_instruction(0x000002f000007945, 0x000fec0003800000, 0x30);
  EXPECT_EQ(scope.target, 0x330);
  EXPECT_EQ(scope.barrier, 0);
  EXPECT_EQ(machine_instruction(0, 0, 0).effect, Effect::kUnknown);
}

TEST(MachineCode, Predicates) {
  EXPECT_TRUE(machine_instruction(0x000000000000781c, 0x000fe20003f0f070, 0).sets);  // P0 = 0x80 of PT, PT, PT
  const MachineInstruction opposite = machine_instruction(0x000000000000281c, 0x000fe4000170e170, 0);  // @P2 P0 = !P2
  EXPECT_EQ(opposite.copies, kPredicate + 2);
  EXPECT_TRUE(opposite.inverts);
  const MachineInstruction vote = machine_instruction(0x00000000003f7886, 0x000fe20002800100, 0);  // UP0 = any P5
  EXPECT_EQ(vote.vote, kPredicate + 5);
  EXPECT_FALSE(vote.unanimous);
}

TEST(MachineCode, ConstantsAtAPlaceThatARegisterTells) {
  constexpr uint64_t kNoGuard = uint64_t{7} << 12, kWindow = uint64_t{0x198} << 38, kIndex = uint64_t{4} << 24;
  const auto width = [](uint64_t code) { return code << 9; };
  const auto plain = constant_read(0xab9 | kNoGuard | kWindow, width(5));
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(*plain, (ConstantRead{0, 0x198, 8, false}));
  EXPECT_EQ(constant_read(0xab9 | kNoGuard | kWindow, width(2))->bytes, 2);
  EXPECT_TRUE(constant_read(0xabb | kNoGuard | kIndex, width(5))->indexed);
  EXPECT_TRUE(constant_read(0xb82 | kNoGuard | kIndex, width(4))->indexed);
  EXPECT_FALSE(constant_read(0x986 | kNoGuard, 0).has_value());
}

}  // namespace
}  // namespace solstice::toolchain
