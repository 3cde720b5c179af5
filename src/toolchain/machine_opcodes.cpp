#include "toolchain/machine_opcodes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <utility>

namespace solstice::toolchain {
namespace {

struct OpcodeText {
  int code;
  const char* name;
  Effect effect;
  const char* operands;
};

constexpr OpcodeText kThreadOpcodes[] = {
    // Moves and additions, through which an address may pass.
    {0x002, "MOV", Effect::kMoves, ">r16 b"},
    {0x007, "SEL", Effect::kMoves, ">r16 a b p87^"},
    {0x0ca, "R2UR", Effect::kMoves, ">u16 >p81 r24"},
    {0x010, "IADD3", Effect::kAdds, ">r16 >p81 >p84 a+ b+ c+ p87^ p77^"},
    {0x011, "LEA", Effect::kAdds, ">r16 >p81 a b+ c p87^"},
    {0x024, "IMAD", Effect::kAdds, ">r16 a b c+ p87^"},
    {0x025, "IMAD.WIDE", Effect::kAdds, ">r16:2 >p81 a b c:2+ p87^"},
    {0x036, "VIADD", Effect::kAdds, ">r16 a+ b+"},
    // Integers and logic.
    {0x003, "P2R", Effect::kComputes, ">r16 a b [masked]"},
    {0x004, "R2P", Effect::kComputes, "[all] a b"},
    {0x00c, "ISETP", Effect::kComputes, ">p81 >p84 a b p87 p68"},
    {0x00f, "VIMNMX3", Effect::kComputes, ">r16 a b c p87"},
    {0x012, "LOP3", Effect::kComputes, ">r16 >p81 a b c p87"},
    {0x013, "IABS", Effect::kComputes, ">r16 b"},
    {0x014, "VABSDIFF", Effect::kComputes, ">r16 ~p81 a b c"},
    {0x015, "VABSDIFF4", Effect::kComputes, ">r16 ~p81 a b c"},
    {0x016, "PRMT", Effect::kComputes, ">r16 a b c"},
    {0x017, "IMNMX", Effect::kComputes, ">r16 a b p87"},
    {0x019, "SHF", Effect::kComputes, ">r16 a b c"},
    {0x01a, "SGXT", Effect::kComputes, ">r16 a b"},
    {0x01b, "BMSK", Effect::kComputes, ">r16 a b"},
    {0x01c, "PLOP3", Effect::kLogic, ">p81 >p84 p87 p77 [third]"},
    {0x026, "IDP", Effect::kComputes, ">r16 a b c"},
    {0x027, "IMAD.HI", Effect::kComputes, ">r16 >p81 a b c:2 p87"},
    {0x02c, "CLMAD", Effect::kComputes, ">r16 a:2 b:2 c:2"},
    {0x046, "VIADDMNMX", Effect::kComputes, ">r16 a b c p87"},
    {0x048, "VIMNMX", Effect::kComputes, ">r16 >p81 >p84 a b p87"},
    {0x100, "FLO", Effect::kComputes, ">r16 >p81 b"},
    {0x101, "BREV", Effect::kComputes, ">r16 b"},
    {0x109, "POPC", Effect::kComputes, ">r16 b"},
    // Floats.
    {0x008, "FSEL", Effect::kComputes, ">r16 a b p87"},
    {0x009, "FMNMX", Effect::kComputes, ">r16 a b p87"},
    {0x00a, "FSET", Effect::kComputes, ">r16 a b p87"},
    {0x00b, "FSETP", Effect::kComputes, ">p81 >p84 a b p87"},
    {0x020, "FMUL", Effect::kComputes, ">r16 a b"},
    {0x021, "FADD", Effect::kComputes, ">r16 a b"},
    {0x022, "FSWZADD", Effect::kShares, ">r16 a c"},
    {0x023, "FFMA", Effect::kComputes, ">r16 a b c"},
    {0x028, "DMUL", Effect::kComputes, ">r16:2 a:2 b:2"},
    {0x029, "DADD", Effect::kComputes, ">r16:2 a:2 c:2"},
    {0x02a, "DSETP", Effect::kComputes, ">p81 >p84 a:2 b:2 p87"},
    {0x02b, "DFMA", Effect::kComputes, ">r16:2 a:2 b:2 c:2"},
    {0x030, "HADD2", Effect::kComputes, ">r16 a b"},
    {0x031, "HFMA2", Effect::kComputes, ">r16 a b c"},
    {0x032, "HMUL2", Effect::kComputes, ">r16 a b"},
    {0x033, "HSET2", Effect::kComputes, ">r16 a b p87"},
    {0x034, "HSETP2", Effect::kComputes, ">p81 >p84 a b p87"},
    {0x035, "HFMA2", Effect::kComputes, ">r16 a b c"},
    {0x040, "HMNMX2", Effect::kComputes, ">r16 a b p87"},
    {0x047, "VHMNMX", Effect::kComputes, ">r16 a b c p87"},
    {0x102, "FCHK", Effect::kComputes, ">p81 a b"},
    {0x108, "MUFU", Effect::kComputes, ">r16 b"},
    // Formats.
    {0x038, "I2I", Effect::kComputes, ">r16 b"},
    {0x039, "I2IP", Effect::kComputes, ">r16 a b c"},
    {0x03e, "F2FP", Effect::kComputes, ">r16 a b c"},
    {0x043, "F2IP", Effect::kComputes, ">r16 a b c"},
    {0x045, "I2FP", Effect::kComputes, ">r16 b"},
    {0x104, "F2F", Effect::kComputes, ">r16 b"},
    {0x105, "F2I", Effect::kComputes, ">r16 b"},
    {0x106, "I2F", Effect::kComputes, ">r16 b"},
    {0x107, "FRND", Effect::kComputes, ">r16 b"},
    {0x110, "F2F", Effect::kComputes, ">r16 b:2"},
    {0x111, "F2I", Effect::kComputes, ">r16 b:2"},
    {0x112, "I2F", Effect::kComputes, ">r16 b:2"},
    {0x113, "FRND", Effect::kComputes, ">r16 b:2"},
    // Products of matrices.
    {0x037, "IMMA", Effect::kComputes, ">r16 a:8 b:8 c:8 [accumulate]"},
    {0x03c, "HMMA", Effect::kComputes, ">r16 a:8 b:8 c:8 [accumulate]"},
    {0x03d, "BMMA", Effect::kComputes, ">r16 a:8 b:8 c:8 [accumulate]"},
    {0x03f, "DMMA", Effect::kComputes, ">r16 a:16 b:16 c:16 [accumulate]"},
    {0x1f0, "HGMMA", Effect::kComputes, ">r16 [matrices] [sums] [accumulate]"},
    {0x1f1, "IGMMA", Effect::kComputes, ">r16 [matrices] r64:128 [accumulate]"},
    {0x1f2, "BGMMA", Effect::kComputes, ">r16 [matrices] r64:128 [accumulate]"},
    {0x1f3, "QGMMA", Effect::kComputes, ">r16 [matrices] [sums] [accumulate]"},
    // Memory.
    {0x182, "LDC", Effect::kConstant, ">r16:w r24"},
    {0x180, "LD", Effect::kLoads, ">r16:w ~p81 r24:2 u32:2?"},
    {0x181, "LDG", Effect::kLoads, ">r16:w ~p81 r24:2 u32:2?"},
    {0x183, "LDL", Effect::kLoads, ">r16:w r24 u32?"},
    {0x184, "LDS", Effect::kLoads, ">r16:w r24 u32?"},
    {0x03b, "LDSM", Effect::kLoads, ">r16 r24 u32?"},
    {0x1aa, "QSPC", Effect::kLoads, "~r16 >p81 r24:2 u32:2?"},
    {0x185, "ST", Effect::kStores, "r24:2 [data] u64:2?"},
    {0x186, "STG", Effect::kStores, "r24:2 r32:w u64:2?"},
    {0x187, "STL", Effect::kStores, "r24 r32:w u64?"},
    {0x188, "STS", Effect::kStores, "r24 r32:w u64?"},
    {0x044, "STSM", Effect::kStores, "r24 r32:4 u64?"},
    {0x18a, "ATOM", Effect::kStores, "~r16 ~p81 r24:2 r32:4 u64:2?"},
    {0x18b, "ATOM", Effect::kStores, "~r16 ~p81 r24:2 r32:4 r64:4"},
    {0x1a2, "ATOM", Effect::kStores, "~r16 ~p81 r24:2 r32:4 u64:2?"},
    {0x18c, "ATOMS", Effect::kStores, "~r16 r24 r32:4 u64?"},
    {0x18d, "ATOMS", Effect::kStores, "~r16 r24 r32:4 r64:4"},
    {0x1a3, "ATOMG", Effect::kStores, "~r16 ~p81 r24:2 r32:4 u64:2?"},
    {0x1a8, "ATOMG", Effect::kStores, "~r16 ~p81 r24:2 r32:4 u64:2?"},
    {0x1a9, "ATOMG", Effect::kStores, "~r16 ~p81 r24:2 r32:4 r64:4"},
    {0x18e, "REDG", Effect::kStores, "r24:2 r32:4 u64:2?"},
    {0x1a6, "REDG", Effect::kStores, "r24:2 r32:4 u64:2?"},
    {0x1ae, "LDGSTS", Effect::kCopies, "r16 r24:2 u64:2? p87"},
    {0x18f, "CCTL", Effect::kStores, "r24:2 u32:2?"},
    // Other threads, warps and blocks.
    {0x006, "VOTE", Effect::kShares, ">r16 >p81 p87"},
    {0x02f, "ELECT", Effect::kElects, ">u16 >p81 p87 u24?"},
    {0x03a, "MOVM", Effect::kShares, ">r16 a"},
    {0x086, "VOTEU", Effect::kShares, ">u16 >q81 p87"},
    {0x11d, "BAR", Effect::kShares, "[barrier]"},
    {0x189, "SHFL", Effect::kShares, ">r16 >p81 [shuffle]"},
    {0x1a1, "MATCH", Effect::kShares, ">r16 >p81 a:2"},
    {0x1a7, "SYNCS", Effect::kShares, "~r16 [try] r24 r32 u64?"},
    {0x1b0, "ARRIVES", Effect::kShares, "r24 u64?"},
    {0x1b1, "SYNCS", Effect::kShares, "~r16 r24 u64?"},
    {0x1bd, "STAS", Effect::kStores, "r24:2 r32:4 u64:2?"},
    {0x1be, "REDAS", Effect::kStores, "r24:2 r32:4 u64:2?"},
    {0x1c4, "REDUX", Effect::kShares, ">u16 a"},
    // Special registers, order, nothing.
    {0x005, "CS2R", Effect::kWaits, "[special]"},
    {0x119, "S2R", Effect::kWaits, ">r16"},
    {0x02d, "PREEXIT", Effect::kWaits, ""},
    {0x02e, "ACQBULK", Effect::kWaits, ""},
    {0x11a, "DEPBAR", Effect::kWaits, ""},
    {0x11b, "ENDCOLLECTIVE", Effect::kWaits, ""},
    {0x11c, "B2R", Effect::kWaits, ">r16 ~p81"},
    {0x118, "NOP", Effect::kWaits, ""},
    {0x142, "BREAK", Effect::kWaits, "p87"},
    {0x146, "YIELD", Effect::kWaits, ""},
    {0x001, "PMTRIG", Effect::kWaits, "p87"},
    {0x15c, "BPT", Effect::kWaits, ""},
    {0x15d, "NANOSLEEP", Effect::kWaits, "b"},
    {0x192, "MEMBAR", Effect::kWaits, ""},
    {0x1ab, "ERRBAR", Effect::kWaits, ""},
    {0x1af, "LDGDEPBAR", Effect::kWaits, ""},
    {0x1c5, "WARPGROUP", Effect::kWaits, ""},
    {0x1c6, "FENCE", Effect::kWaits, ""},
    {0x1c8, "USETMAXREG", Effect::kWaits, ">q81"},
    // Control.
    {0x145, "BSSY", Effect::kScopes, "p87"},
    {0x141, "BSYNC", Effect::kMeets, "p87"},
    {0x147, "BRA", Effect::kBranches, "p87 [condition]"},
    {0x148, "WARPSYNC", Effect::kBranches, "a"},
    {0x144, "CALL", Effect::kCalls, "p87 [callee]"},
    {0x143, "CALL", Effect::kJumps, "p87 [callee]"},
    {0x150, "RET", Effect::kReturns, "p87 a:2"},
    {0x149, "BRX", Effect::kJumps, "p87 a:2"},
    {0x14a, "JMP", Effect::kJumps, "p87"},
    {0x14c, "JMX", Effect::kJumps, "p87 a:2"},
    {0x158, "BRXU", Effect::kJumps, "p87 u24:2"},
    {0x159, "JMXU", Effect::kJumps, "p87 u24:2"},
    {0x14d, "EXIT", Effect::kEnds, "p87"},
    {0x15b, "KILL", Effect::kEnds, "p87"},
};

constexpr OpcodeText kUniformOpcodes[] = {
    {0x082, "UMOV", Effect::kMoves, ">u16 b"},
    {0x087, "USEL", Effect::kMoves, ">u16 a b q87^"},
    {0x090, "UIADD3", Effect::kAdds, ">u16 >q81 >q84 a+ b+ c+ q87^ q77^"},
    {0x097, "UIADD3.64", Effect::kAdds, ">u16:2 >q81 >q84 a:2+ b:2+ c:2+ q87^ q77^"},
    {0x091, "ULEA", Effect::kAdds, ">u16 >q81 a b+ c q87^"},
    {0x0a4, "UIMAD", Effect::kAdds, ">u16 a b c+ q87^"},
    {0x0a5, "UIMAD.WIDE", Effect::kAdds, ">u16:2 >q81 a b c:2+ q87^"},
    {0x083, "UP2UR", Effect::kComputes, ">u16 a b [masked]"},
    {0x084, "UR2UP", Effect::kComputes, "[all] a b"},
    {0x08c, "UISETP", Effect::kComputes, ">q81 >q84 a b q87 q68"},
    {0x092, "ULOP3", Effect::kComputes, ">u16 >q81 a b c q87"},
    {0x096, "UPRMT", Effect::kComputes, ">u16 a b c"},
    {0x099, "USHF", Effect::kComputes, ">u16 a b c"},
    {0x09a, "USGXT", Effect::kComputes, ">u16 a b"},
    {0x09b, "UBMSK", Effect::kComputes, ">u16 a b"},
    {0x09c, "UPLOP3", Effect::kLogic, ">q81 >q84 q87 q77 q68"},
    {0x0ba, "UF2FP", Effect::kComputes, ">u16 a b c"},
    {0x0bd, "UFLO", Effect::kComputes, ">u16 >q81 b"},
    {0x0be, "UBREV", Effect::kComputes, ">u16 b"},
    {0x0bf, "UPOPC", Effect::kComputes, ">u16 b"},
    {0x0b9, "ULDC", Effect::kConstant, ">u16:w"},
    {0x0bb, "ULDC", Effect::kConstant, ">u16:w u24"},
    // The copy engine: in `u32` shared address, barrier and coordinates. A descriptor's address is in u24.
    {0x1b4, "UTMALDG", Effect::kDescriptor, "u24:2* [load_box] [mask] [hint]"},
    {0x1b5, "UTMASTG", Effect::kDescriptor, "u24:2* [store_box] [hint]"},
    {0x1b6, "UTMAREDG", Effect::kDescriptor, "u24:2* [store_box] [hint]"},
    {0x1b8, "UTMAPF", Effect::kDescriptor, "u24:2* [prefetch_box] [mask] [hint]"},
    {0x1b9, "UTMACCTL", Effect::kDescriptor, "u24:2*"},
    {0x1b7, "UTMACMDFLUSH", Effect::kWaits, ""},
    {0x1ba, "UBLKCP", Effect::kCopies, "u24:2 u32:2 u64 [hint]"},
    {0x1bb, "UBLKRED", Effect::kCopies, "u24:2 u32:2 u64 [hint]"},
    {0x1bc, "UBLKPF", Effect::kCopies, "u24:2 u64 [hint]"},
    {0x1b2, "SYNCS", Effect::kShares, "~u16 u24 u32:2"},
    {0x1c3, "S2UR", Effect::kWaits, ">u16"},
    {0x1c7, "UCGABAR", Effect::kWaits, ""},
};

// "24:2" of "r24:2*", and what follows.
int number(std::string_view& text, int otherwise) {
  int out = otherwise;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error == std::errc()) text.remove_prefix(static_cast<size_t>(end - text.data()));
  return out;
}

Place place_of(char letter) {
  switch (letter) {
    case 'u':
      return Place::kUniform;
    case 'p':
      return Place::kPredicate;
    case 'q':
      return Place::kUniformPredicate;
    case 'a':
      return Place::kA;
    case 'b':
      return Place::kB;
    case 'c':
      return Place::kC;
    default:
      return Place::kThread;
  }
}

Place special_place(std::string_view word) {
  constexpr std::pair<std::string_view, Place> kPlaces[] = {
      {"[masked]", Place::kMasked},       {"[matrices]", Place::kMatrices}, {"[accumulate]", Place::kAccumulate},
      {"[condition]", Place::kCondition}, {"[data]", Place::kData},         {"[shuffle]", Place::kShuffle},
      {"[barrier]", Place::kBarrier},     {"[load_box]", Place::kLoadBox},  {"[store_box]", Place::kStoreBox},
      {"[mask]", Place::kMask},           {"[all]", Place::kAll},           {"[try]", Place::kTry},
      {"[sums]", Place::kSums},           {"[third]", Place::kThird},       {"[prefetch_box]", Place::kPrefetchBox},
      {"[callee]", Place::kCallee},       {"[special]", Place::kSpecial},
  };
  for (const auto& [name, place] : kPlaces) {
    if (name == word) return place;
  }
  return Place::kHint;
}

OperandWord word_of(std::string_view text) {
  OperandWord out;
  out.written = text[0] == '>' || text[0] == '~';
  out.certain = text[0] != '~';
  if (out.written) text.remove_prefix(1);
  out.place = place_of(text[0]);
  text.remove_prefix(1);
  out.bit = number(text, 0);
  if (text.starts_with(":w")) {
    out.count = 0;
    text.remove_prefix(2);
  } else if (text.starts_with(":")) {
    text.remove_prefix(1);
    out.count = number(text, 1);
  }
  for (const char mark : text) {
    if (mark == '?') out.optional = true;
    if (mark == '+') out.role = Role::kAddend;
    if (mark == '^') out.role = Role::kCarry;
    if (mark == '*') out.role = Role::kDescriptor;
  }
  return out;
}

MachineOpcode parsed(const OpcodeText& text, bool uniform) {
  MachineOpcode out{text.name, text.effect, uniform, {}};
  std::string_view rest = text.operands;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    out.operands.push_back(word.starts_with("[") ? OperandWord{.place = special_place(word)} : word_of(word));
  }
  return out;
}

constexpr size_t kCodes = 512;

std::array<std::unique_ptr<const MachineOpcode>, kCodes> made_table() {
  std::array<std::unique_ptr<const MachineOpcode>, kCodes> out;
  const auto add = [&](const OpcodeText& text, bool uniform) {
    out[static_cast<size_t>(text.code)] = std::make_unique<const MachineOpcode>(parsed(text, uniform));
  };
  for (const OpcodeText& text : kThreadOpcodes) add(text, false);
  for (const OpcodeText& text : kUniformOpcodes) add(text, true);
  return out;
}

}  // namespace

const MachineOpcode* machine_opcode(int code) {
  static const auto table = made_table();
  return code >= 0 && static_cast<size_t>(code) < kCodes ? table[static_cast<size_t>(code)].get() : nullptr;
}

}  // namespace solstice::toolchain
