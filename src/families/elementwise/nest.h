// Loop nests of a map kernel. Equations over boxes of equal extents share a nest (their common reads are loaded once);
// nests share a launch, each with its own range of blocks.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/access.h"
#include "codegen/flatten.h"
#include "codegen/linear.h"
#include "families/emission.h"
#include "ir/program.h"

namespace solstice::families::elementwise {

// The walk of a nest over its points. A thread takes `vector` neighbouring points, `unroll` times.
struct Nest {
  codegen::FlatKernel flat;          // equations of this nest, over one set of free indices
  std::vector<int> order;            // the free indices, from the target's largest stride to its smallest
  std::vector<codegen::Loop> loops;  // outer to inner, fused; empty: one point
  bool flattened = false;            // the innermost extent does not divide by `vector`: points are counted through
  bool shifted = false;  // it does not, and vectors are aligned in memory: a row's first and last are partial
  int64_t points = 1;
  int vector = 1;
  int64_t vectors() const { return (points + vector - 1) / vector; }
};

struct Settings {
  int threads = 128;  // measured on an H200: never slower than 256, up to 2 % faster
  int vector = 0;     // 0: chosen by width
  int unroll = 0;     // 0: chosen by bytes in flight
  int rows = 1;       // results along an outer index that a thread takes together (stack.h)
  Streaming streaming{false, false};
};

// Steps that make a nest; each family walks it in an order of its own.
// Errors: not_yet for reductions longer than a thread should run alone; illegal_knobs for ranking. `family` for the
// message.
Status check_serial(const ir::Program& program, const codegen::FlatKernel& flat, std::string_view family);
// Free indices from the target's largest stride to its smallest: writes are then contiguous across threads.
std::vector<int> order_of(const ir::Program& program, const codegen::FlatKernel& flat,
                          const codegen::FlatEquation& equation);
// Equations over boxes of equal extents in one nest; its loops are not chosen yet.
std::vector<Nest> group_equations(const ir::Program& program, const codegen::FlatKernel& flat);
// The widest vector that the stores along the innermost loop allow (at most `wanted`, where that is not 0); reads that
// do not follow are loaded one by one. The innermost extent divides by it, unless the nest is its only loop
// (`flattened`).
void choose_vector(const ir::Program& program, Nest& nest, int wanted);

// A store of one element of a row, at the last step of a recurrence that runs along it.
bool is_single(const Nest& nest, const codegen::Access& access);

// Data that fewer loops than the nest's step through: other threads read it again, from cache.
bool is_reused(const Nest& nest, const codegen::Access& access);

// True if an access is aligned to `vector` elements where the nest's points are, counted through: with shifted rows,
// vectors then begin at the same places in all such tensors.
bool is_congruent(const Nest& nest, const codegen::Access& access, int64_t vector);

// True if an access moves `vector` neighbouring elements at once in this nest.
bool is_stream(const Nest& nest, const codegen::Access& access);

// Bytes that a thread's loads of one vector bring from memory; where all of them are reused, from cache.
int bytes_ahead(const ir::Program& program, const Nest& nest);
// Vectors a thread holds in flight: 16 bytes of loads.
int unroll_of(const ir::Program& program, const Nest& nest, const Settings& settings);

}  // namespace solstice::families::elementwise
