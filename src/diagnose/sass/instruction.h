// Machine code as the text of nvdisasm (`-hex -c`, with `-g` or `-gi` for lines) or of `cuobjdump -sass`, for sm_90a.
//
// The text comes from an untrusted program: any bytes parse, in time and memory linear in them. An opcode that the
// table (opcodes.h) does not have is of kind `unknown`; a line that is none of ours is skipped. All text is views into
// the listing, which the caller keeps.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "diagnose/sass/opcodes.h"

namespace solstice::diagnose::sass {

// Scheduling information in the encoding, from its bit 105 on: 4 bits stall, yield, 3 write barrier, 3 read barrier, 6
// wait mask, 4 reuse (Jia et al., "Dissecting the NVIDIA Volta GPU architecture via microbenchmarking", 2018, 2.1).
struct Control {
  uint8_t stall = 0;          // cycles until the warp may issue again
  bool yields = false;        // the scheduler rather takes another warp (the bit is 0)
  int8_t write_barrier = -1;  // scoreboard that its result releases; -1: none
  int8_t read_barrier = -1;   // scoreboard that is released once its operands are read
  uint8_t wait_mask = 0;      // scoreboards that it waits for
  uint8_t reuse = 0;          // operands kept in the reuse cache
};

enum class Space : uint8_t { kNone, kGlobal, kShared, kLocal, kGeneric };
std::vector<const char*> enum_names(Space);

// Of one thread. Bulk copies (tma) and atomics have none.
struct Access {
  Space space = Space::kNone;
  bool store = false;
  int16_t bits = 0;
};

struct Instruction {
  int64_t address = 0;         // in its section
  std::string_view predicate;  // "!P0"; "" where it always runs
  std::string_view opcode;     // "IMAD.WIDE.U32"
  std::string_view operands;   // "R2, R7, 0x4, R2"
  Kind kind = Kind::kUnknown;
  Pipe pipe = Pipe::kNone;
  Access access;
  std::optional<Control> control;  // the text has the whole encoding
  int place = -1;                  // index in Listing::places; -1: not known
};

// Where code comes from; `inlined_at`: index of the place of the call, -1: of none.
struct Place {
  std::string_view file;
  int line = 0;
  int inlined_at = -1;
};

struct Label {
  std::string_view name;
  size_t at = 0;  // index of the instruction that follows
};

// One section of code: a kernel, with the subroutines that the compiler put behind it.
struct Function {
  std::string_view name;
  bool entry = false;                          // a kernel; cuobjdump does not tell, and all are taken for one
  std::vector<Instruction> instructions = {};  // by address
  std::vector<Label> labels = {};
};

struct Listing {
  std::vector<Function> functions;
  std::vector<Place> places;
  bool cut = false;  // the text has more than `kMostInstructions`; the rest was not read
};

inline constexpr size_t kMostInstructions = 2'000'000;  // 32 MB of machine code; also of labels and places

Listing parse_listing(std::string_view text);

// Of its text without address and encoding; the fields that the text does not tell are left alone.
Instruction parse_instruction(std::string_view text);
Control control_of(uint64_t upper);  // half of the encoding

}  // namespace solstice::diagnose::sass
