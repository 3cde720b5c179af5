// Opcodes of sm_90a ("CUDA Binary Utilities", Hopper instruction set): the kind of work, and the pipe that runs it as
// Nsight Compute's pages name pipes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace solstice::diagnose::sass {

// Names are those of SassMix::counts. kInt and kAddress are told apart by use (address.h); the table has kInt.
enum class Kind : uint8_t {
  kUnknown,
  kWgmma,    // of a warp group
  kMma,      // of a warp
  kFp32,     // arithmetic
  kFp64,     // and its comparisons: they run on the same pipe
  kFp16,     // packed, bf16 too
  kInt,      // arithmetic, logic, shifts
  kAddress,  // the same where it makes an address
  kMufu,     // transcendental functions, reciprocals
  kConvert,  // between formats, and rounding
  kMove,     // copies, constants, selections, permutations, special registers
  kCompare,  // to a predicate or a mask
  kControl,  // branches, convergence, and what does nothing
  kBarrier,  // arrival and set-up, or arrival and wait in one
  kWait,     // for a barrier in memory, a group of copies, wgmma, the kernel before
  kFence,    // order of memory or of wgmma's registers, caches
  kShuffle,  // between lanes
  kAtomic,
  kTma,        // bulk copies and their prefetch
  kAsyncCopy,  // global to shared memory by threads
  kLoad,
  kStore,
  kConstant,  // loads of constant memory
};
std::vector<const char*> enum_names(Kind);

enum class Pipe : uint8_t { kNone, kTensor, kFma, kAlu, kFp64, kFp16, kXu, kLsu, kTex, kTma, kUniform, kAdu, kCbu };
std::vector<const char*> enum_names(Pipe);

struct OpcodeClass {
  Kind kind = Kind::kUnknown;
  Pipe pipe = Pipe::kNone;
};

// Of an opcode with its modifiers ("SYNCS.PHASECHK.TRANS64.TRYWAIT").
OpcodeClass class_of(std::string_view opcode);

// "SYNCS" of it.
std::string_view base_of(std::string_view opcode);
// Whether one of its modifiers is that.
bool has_modifier(std::string_view opcode, std::string_view modifier);

}  // namespace solstice::diagnose::sass
