#include "diagnose/sass/instruction.h"

#include <gtest/gtest.h>

#include "diagnose/sass/operands.h"
#include "unit/diagnose/sass/texts.h"

namespace solstice::diagnose::sass {
namespace {

std::string kind_of(std::string_view text) {
  return enum_names(Kind{})[static_cast<size_t>(parse_instruction(text).kind)];
}

TEST(SassInstruction, HasPredicateOpcodeAndOperands) {
  const Instruction at = parse_instruction("@!P0 IMAD.WIDE.U32 R2, R7, 0x4, R2");
  EXPECT_EQ(at.predicate, "!P0");
  EXPECT_EQ(at.opcode, "IMAD.WIDE.U32");
  EXPECT_EQ(at.operands, "R2, R7, 0x4, R2");
  EXPECT_EQ(at.pipe, Pipe::kFma);
}

TEST(SassInstruction, TellsKindsApartByModifiersAndUse) {
  EXPECT_EQ(kind_of("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR12+0x38b80], R26"), "wait");
  EXPECT_EQ(kind_of("SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR53+0x38bc0], RZ"), "barrier");
  EXPECT_EQ(kind_of("WARPGROUP.ARRIVE"), "fence");
  EXPECT_EQ(kind_of("WARPGROUP.DEPBAR.LE gsb0, 0x0"), "wait");
  EXPECT_EQ(kind_of("HFMA2.MMA R26, -RZ, RZ, 0.96630859375, -0.0022525787353515625"), "move");
  EXPECT_EQ(kind_of("HFMA2 R26, R1, R2, R3"), "fp16");
  EXPECT_EQ(kind_of("HADD2.F32 R36, -RZ, R37.reuse.H1_H1"), "convert");
  EXPECT_EQ(kind_of("IMAD.MOV.U32 R11, RZ, RZ, R16"), "move");
  EXPECT_EQ(kind_of("IMAD.U32 R4, RZ, RZ, UR4"), "move");
  EXPECT_EQ(kind_of("IMAD R8, R8, 0x8, R12.reuse"), "int");
  EXPECT_EQ(kind_of("HGMMA.64x128x16.F32 R24, gdesc[UR40], RZ, !UPT"), "wgmma");
  EXPECT_EQ(kind_of("LDGSTS.E.BYPASS.128 [R47], desc[UR6][R48.64], P0"), "async_copy");
  EXPECT_EQ(kind_of("@!PT LDS RZ, [RZ]"), "control");
  EXPECT_EQ(kind_of("FROBNICATE.E R1, R2"), "unknown");
}

TEST(SassInstruction, HasSpaceDirectionAndWidthOfAccesses) {
  const auto access = [](std::string_view text) {
    const Access at = parse_instruction(text).access;
    return std::string(enum_names(Space{})[static_cast<size_t>(at.space)]) + (at.store ? " store " : " load ") +
           std::to_string(at.bits);
  };
  EXPECT_EQ(access("LDG.E.128.CONSTANT R136, desc[UR4][R2.64]"), "global load 128");
  EXPECT_EQ(access("STG.E.U16 desc[UR4][R8.64], R3"), "global store 16");
  EXPECT_EQ(access("LDS R91, [R88+0x30080]"), "shared load 32");
  EXPECT_EQ(access("STL.64 [R1+0x20], R136"), "local store 64");
  EXPECT_EQ(access("LD.E R16, [R2]"), "generic load 32");
  EXPECT_EQ(access("LDSM.16.M88.4 R4, [R12]"), "shared load 128");
  EXPECT_EQ(access("STSM.16.M88.2 [R12], R4"), "shared store 64");
  EXPECT_EQ(access("@!PT LDS RZ, [RZ]"), "none load 0");
}

TEST(SassInstruction, ControlBitsAreThoseOfTheEncoding) {
  const Control load = control_of(0x000ea2000c1e1900);  // LDG.E R3: the result releases scoreboard 2
  EXPECT_EQ(load.stall, 1);
  EXPECT_FALSE(load.yields);
  EXPECT_EQ(load.write_barrier, 2);
  EXPECT_EQ(load.read_barrier, -1);
  EXPECT_EQ(load.wait_mask, 0);
  EXPECT_EQ(control_of(0x004fe2000c101904).wait_mask, 1 << 2);  // STG.E of that result waits for it
  EXPECT_EQ(control_of(0x080fe20000000005).reuse, 2);
  EXPECT_TRUE(control_of(0x000fcc00078e0002).yields);
}

TEST(SassInstruction, AListingHasFunctionsAddressesEncodingsAndPlaces) {
  const std::string text = diagnose::testing::sass_text("loops");
  const Listing listing = parse_listing(text);
  ASSERT_EQ(listing.functions.size(), 6U);
  EXPECT_FALSE(listing.cut);
  for (const Function& function : listing.functions) {
    EXPECT_TRUE(function.entry) << function.name;
    int64_t address = 0;
    for (const Instruction& at : function.instructions) {
      EXPECT_EQ(at.address, address);
      EXPECT_TRUE(at.control) << at.opcode;
      EXPECT_NE(at.kind, Kind::kUnknown) << at.opcode;
      address += 16;
    }
  }
  const Function& first = listing.functions.front();
  ASSERT_GE(first.instructions.front().place, 0);
  EXPECT_EQ(listing.places[static_cast<size_t>(first.instructions.front().place)].file, "loops.cu");
}

TEST(SassInstruction, PlacesOfInlinedCodeAreChains) {
  const Listing listing = parse_listing(
      ".section .text.k,\"ax\",@progbits\n"
      "//## File \"inl.cu\", line 1 inlined at \"inl.cu\", line 3\n"
      "//## File \"inl.cu\", line 3 inlined at \"prog.ucut\", line 8\n"
      "//## File \"prog.ucut\", line 8\n"
      "/*0000*/ FMUL R4, R0, R0 ; /* 0x0000000000047220 */\n/* 0x004fd20000400000 */\n"
      "//## File \"prog.ucut\", line 9\n/*0010*/ EXIT ;\n");
  ASSERT_EQ(listing.functions.size(), 1U);
  ASSERT_EQ(listing.functions[0].instructions.size(), 2U);
  const int inner = listing.functions[0].instructions[0].place;
  ASSERT_EQ(inner, 0);
  ASSERT_EQ(listing.places[0].inlined_at, 1);
  ASSERT_EQ(listing.places[1].inlined_at, 2);
  EXPECT_EQ(listing.places[2].line, 8);
  EXPECT_EQ(listing.places[2].inlined_at, -1);
  EXPECT_EQ(listing.places[static_cast<size_t>(listing.functions[0].instructions[1].place)].line, 9);
}

TEST(SassInstruction, DamagedTextIsReadAsFarAsItGoes) {
  const Listing listing = parse_listing(
      "/*0000*/ FADD R1, R2, R3 ;\n"  // in no section
      ".section .text.k\n.L_x_0:\n/*zzzz*/ FADD ;\n/*0010*/\n/*0010*/ ;\n/*0020*/ @ ;\n/*0030*/ FADD R1, R2, R\n"
      "/*0020*/ FADD R1, R2, R3 ;\n/* 0x */\n/* 0xfffffffffffffffffffffffff */\n//## File \"\n:\n/*");
  ASSERT_EQ(listing.functions.size(), 1U);
  const std::vector<Instruction>& code = listing.functions[0].instructions;
  ASSERT_EQ(code.size(), 2U);
  EXPECT_EQ(code[0].kind, Kind::kUnknown);
  EXPECT_EQ(code[1].address, 0x30);
}

TEST(SassOperands, AreSplitOutsideBrackets) {
  const auto parts = split_operands("[UR8], [UR6+0x4], `(a,b), |R2|");
  ASSERT_EQ(parts.size(), 4U);
  EXPECT_EQ(parts[2], "`(a,b)");
}

TEST(SassOperands, RegistersAreValuesResultsOrAddresses) {
  const Uses load = uses_of(parse_instruction("LDG.E.64 R14, desc[UR4][R2.64+0x8]"));
  EXPECT_EQ(load.writes.count(), 2U);
  EXPECT_TRUE(load.writes[14] && load.writes[15]);
  EXPECT_TRUE(load.addresses[2] && load.addresses[3]);
  EXPECT_EQ(load.addresses.count(), 2U);
  const Uses wide = uses_of(parse_instruction("IMAD.WIDE R148, R149, 0x8, R20"));
  EXPECT_TRUE(wide.writes[148] && wide.writes[149]);
  EXPECT_TRUE(wide.reads[149] && wide.reads[20] && wide.reads[21]);
  const Uses compare = uses_of(parse_instruction("ISETP.GE.AND P0, PT, R7, 0x1, PT"));
  EXPECT_TRUE(compare.writes.none());
  EXPECT_TRUE(compare.reads[7]);
  const Uses constant = uses_of(parse_instruction("IADD3 R4, R5, c[0x0][0x210], RZ"));
  EXPECT_TRUE(constant.addresses.none());
  EXPECT_EQ(register_of("-UR12.reuse"), kThreadRegisters + 12);
  EXPECT_EQ(register_of("RZ"), -1);
  EXPECT_EQ(register_of("SR_TID.X"), -1);
}

}  // namespace
}  // namespace solstice::diagnose::sass
