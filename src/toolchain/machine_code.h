// Instructions of sm_90 in numbers: what one reads, writes and does, as far as the flow of addresses needs it.
//
// An instruction has 128 bits. Opcode in bits 0-8, form of its second and third operand in 9-11, guard in 12-15, then
// registers of 8 bits (6 of uniform ones) at 16, 24, 32 and 64, predicates of 3 at 68, 77, 81, 84 and 87. The table
// (machine_opcodes.cpp) has what each opcode keeps there. Found by printing every opcode with nvdisasm 13.5, each field
// another number. In 281,096 instructions of 160 cubins (NVRTC 13.0.88) all registers, guards and targets that it
// prints are found here, but for the first pair of gdesc[] of a product with registers, which nothing writes or reads.
//
// Where the table cannot tell, more is read and less is overwritten than is. An opcode that it lacks has no operands
// and the effect `unknown`: whoever asks has to expect anything of it.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "toolchain/constant_reads.h"
#include "toolchain/machine_opcodes.h"

namespace solstice::toolchain {

inline constexpr uint64_t kInstructionBytes = 16;

// Registers in one row: of a thread, of a warp ("uniform"), predicates of both. RZ, URZ, PT and UPT are none.
inline constexpr int kUniformRegister = 256, kPredicate = kUniformRegister + 64, kUniformPredicate = kPredicate + 8;
inline constexpr int kMachineRegisters = kUniformPredicate + 8;
using MachineRegisters = std::bitset<kMachineRegisters>;

struct MachineOperand {
  Role role = Role::kValue;
  int first = -1;       // register; -1: the constant that is read
  int count = 1;        // registers in a row
  bool certain = true;  // of a result: all of it is overwritten
};

struct MachineInstruction {
  std::string_view name = "unknown";  // "STG"
  Effect effect = Effect::kUnknown;
  int guard = -1;               // its predicate; -1: none
  bool negated = false;         // it runs where the guard is false
  bool always = true;           // no guard or condition
  bool together = true;         // of a branch: all lanes of a warp go one way
  bool by_guard_alone = false;  // of a branch or an end: nothing else decides
  bool sets = false;            // its first predicate becomes true
  bool clears = false;          // or false
  int copies = -1;              // or that of this predicate, or the other value
  bool inverts = false;
  int vote = -1;  // or true where this one is true in some lane, or in all
  bool unanimous = false;
  std::vector<MachineOperand> reads = {}, writes = {};
  std::optional<ConstantRead> constant = {};
  int64_t target = -1;  // bytes from the start of its section
  int barrier = -1;     // of kScopes and kMeets
};

// Of the instruction at `offset` of a section.
MachineInstruction machine_instruction(uint64_t first, uint64_t second, int64_t offset);

}  // namespace solstice::toolchain
