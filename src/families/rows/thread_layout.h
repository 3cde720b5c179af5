// Threads and blocks of a row, where the knobs leave them to the family: the fastest on an H200, by the
// row's length, how many there are, and what is wanted of them.
#pragma once

#include <cstdint>

#include "families/rows/settings.h"

namespace solstice::families::rows {

inline constexpr int64_t kRegisterBytes = 256;  // of kept values: 64 registers, a quarter of what a thread can have

// True if parts of a row can be reduced independently: nothing but reductions of its data is wanted.
bool divisible(const Shape& shape);

// True if the kernel is an online one (online/emit.h): asked for, or the family's choice. `vector`: elements a thread
// takes at once.
bool wants_online(const Shape& shape, const ir::Knobs& knobs, int vector, int64_t sms);
void choose_online_layout(const Shape& shape, const ir::Knobs& knobs, int64_t sms, Settings& settings);

// Threads, blocks and rows of a block of any other layout; `settings.vector` is known.
void choose_layout(const Shape& shape, const ir::Knobs& knobs, const machine::Machine* machine, Settings& settings);
// More threads to a row, where they are the family's choice and registers would not hold what each keeps; more blocks,
// where rows are so few that these are idle.
void widen(const ir::Program& program, const Shape& shape, const ir::Knobs& knobs, int64_t sms, Settings& settings);
// Blocks of an SM that registers leave room for, where a thread keeps `kept` bytes: two where they hold them, so that
// one loads while another reduces.
int resident_blocks(int64_t kept, const Settings& settings);

}  // namespace solstice::families::rows
