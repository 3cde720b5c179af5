// The values that sweeps leave for later ones, in registers or in shared memory.
#pragma once

#include <string>
#include <vector>

#include "families/rows/draft.h"

namespace solstice::families::rows {

// One vector a step.
struct Kept {
  ir::ExprRef value;
  std::string name;     // "k0"
  bool loaded = false;  // the row's data, filled by a vector load ahead of the sweep; else computed in it
  codegen::CType type = codegen::CType::kF32;  // of a computed one, once it was
  std::string element;  // of the vector: the storage type of loaded data, else the computing type
};

// Of a value that is kept: of loaded data as it is stored, of what is computed at most.
int element_bytes(const ir::Program& program, const ir::ExprRef& value, bool loaded);

// Where kept values lie in shared memory, for one element of the row: offsets by position (all sweeps' `keeps`, in
// order) and the bytes of all. A value takes over the place of one that is last used in the sweep that computes it: a
// thread reads its old element before it writes the new one. Only where both have the same stride, or threads would
// write each other's elements.
struct KeptPlaces {
  std::vector<int64_t> offsets;
  int64_t bytes = 0;
};
KeptPlaces kept_places(const ir::Program& program, const Shape& shape, const Phases& phases, int vector);

class KeptValues {
 public:
  explicit KeptValues(const Draft& draft);

  const Kept* find(const ir::ExprRef& value) const;  // null: it is not kept
  // The vector of step `k`.
  std::string at_step(const Kept& kept) const;
  // Fills the lane's element of a value that this sweep keeps; one that is loaded is there already.
  Status write(Draft& draft, const ir::ExprRef& value, VectorText& text);
  // Declares all of them, once all were written. `shared`: bytes of shared memory taken before, then with them.
  std::string declare(int64_t& shared);

 private:
  const Draft& draft_;
  std::vector<Kept> all_;
};

}  // namespace solstice::families::rows
