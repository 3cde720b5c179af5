// Memory accesses of expressions: element offsets as linear forms of indices, which adjacent loops can be walked as
// one, and how far an access stays aligned. Shared by the families that choose vector widths and loop orders.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/units.h"
#include "codegen/flatten.h"
#include "ir/program.h"

namespace solstice::codegen {

// One read (or the left side) of an equation.
struct Access {
  int tensor = -1;
  ir::ExprRef read;                  // null: the left side of `equation`
  int equation = -1;                 // position in FlatKernel::equations
  std::vector<ir::ExprRef> args;     // without the `else` value
  std::optional<ir::Affine> offset;  // elements; nothing: a gather or a `//` that stays
  bool tested = false;               // may fall outside, is loaded under a test

  bool depends_on(int index) const;
};

// Of each equation its left side, then the reads that no equation before it has.
std::vector<Access> accesses_of(const ir::Program& program, const FlatKernel& flat);

// Indices that occur only in linear, untested accesses: loops over them may be fused.
bool only_in_linear(const ir::Program& program, const FlatKernel& flat, int index);

// Loops over `outer` and `inner` (which has this extent) step through every access as one loop.
bool fusible(const ir::Program& program, const FlatKernel& flat, const std::vector<Access>& accesses, int outer,
             int inner, int64_t inner_extent);

// A loop over one index, or over several fused ones (outer to inner): then the last steps through all of them.
struct Loop {
  std::vector<int> indices;
  int64_t extent = 0;
  int stepping() const { return indices.back(); }
};

// Loops over `order` (outer to inner), without those of extent 1, neighbours fused where every access allows it.
std::vector<Loop> fused_loops(const ir::Program& program, const FlatKernel& flat, const std::vector<int>& order);

// Largest power of two (up to `limit`) that divides the offset whatever the indices outside `lane` are.
int64_t alignment_of(const Access& access, const Loop& lane, int64_t limit);

// Bytes that the kernel must move if every touched element crosses the memory bus once.
Bytes traffic_of(const ir::Program& program, const FlatKernel& flat);
std::map<int, Bytes> traffic_by_tensor(const ir::Program& program, const FlatKernel& flat);

}  // namespace solstice::codegen
