// The table of opcodes of sm_90: name, effect, operands.
//
// Operands are words: a kind of register, the bit where it stands, and how many there are.
//   r24:2      registers of a thread; u24 of a warp; p87, q87 predicates of both
//   a b c      the operands that the form of an instruction places (registers, uniform registers, a constant)
//   :w         as many as its width says (bits 73-75); `?`: only where bit 91 is set
//   >          written (`>r16`: surely overwritten); `~r16`: written, with more behind it perhaps
//   +          may be the one addend that is an address; `^`: a carry; `*`: address of a descriptor
//   [hint]     a word of its own, below
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace solstice::toolchain {

enum class Effect : uint8_t {
  kUnknown,
  kMoves,       // copies an operand, or chooses one
  kAdds,        // one addend and others
  kComputes,    // arithmetic on registers, comparisons
  kLogic,       // of predicates
  kElects,      // its predicate is true in one lane of those that take part
  kLoads,       // from memory
  kConstant,    // from constant memory
  kStores,      // to memory, atomics and reductions among them
  kCopies,      // between memories, by the copy engine or in the background
  kShares,      // with other threads, warps, blocks
  kDescriptor,  // the copy engine by a descriptor
  kWaits,       // order, special registers, nothing
  kBranches,    // to `target`
  kScopes,      // names a place where threads meet again
  kMeets,       // and goes on there
  kCalls,       // `target`, and comes back
  kReturns,
  kJumps,  // where no number in it tells
  kEnds,
};

enum class Role : uint8_t { kValue, kAddend, kCarry, kDescriptor };

enum class Place : uint8_t {
  kThread,
  kUniform,
  kPredicate,
  kUniformPredicate,
  kA,
  kB,
  kC,
  kMasked,       // [masked]: the predicates that an immediate operand names
  kAll,          // [all]: writes any predicate
  kMatrices,     // [matrices]: descriptors of matrices in shared memory, or one and registers
  kTry,          // [try]: the predicate of a try to wait
  kThird,        // [third]: a predicate at 68, of the warp or of threads
  kSums,         // [sums]: accumulators of a warp group
  kAccumulate,   // [accumulate]: the uniform predicate at 87, counted from 7 down
  kCondition,    // [condition]: of a branch on what a warp has in common
  kData,         // [data]: what ST stores
  kShuffle,      // [shuffle]: value, lane and limit
  kBarrier,      // [barrier]: number and threads
  kLoadBox,      // [load_box]: shared address, barrier and coordinates
  kStoreBox,     // [store_box]: shared address and coordinates
  kCallee,       // [callee]: an address in registers
  kSpecial,      // [special]: writes a special register, of 64 bits where bit 80 is set
  kPrefetchBox,  // [prefetch_box]: coordinates
  kMask,         // [mask]: blocks that a copy goes to, or offsets of im2col
  kHint,         // [hint]: policy of the cache
};

struct OperandWord {
  Place place = Place::kThread;
  Role role = Role::kValue;
  int bit = 0;
  int count = 1;  // 0: by width
  bool written = false, certain = true, optional = false;
};

struct MachineOpcode {
  std::string_view name;
  Effect effect = Effect::kUnknown;
  bool uniform = false;  // guard and a, b, c are of the warp
  std::vector<OperandWord> operands = {};
};

// By bits 0-8; null: none of the table.
const MachineOpcode* machine_opcode(int code);

}  // namespace solstice::toolchain
