// The values that sweeps leave for later ones, in registers or in shared memory.
#pragma once

#include <string>
#include <vector>

#include "families/rows/draft.h"

namespace solstice::families::rows {

// One vector a step.
struct ResidentValue {
  ir::ExprRef value;
  std::string name;     // "k0"
  bool loaded = false;  // the row's data, filled by a vector load ahead of the sweep; else computed in it
  codegen::CType type = codegen::CType::kF32;  // of a computed one, once it was
  std::string element;  // of the vector: the storage type of loaded data, else the computing type
};

class ResidentValues {
 public:
  explicit ResidentValues(const Draft& draft);

  const ResidentValue* find(const ir::ExprRef& value) const;  // null: it is not kept
  // The vector of step `k`.
  std::string at_step(const ResidentValue& kept) const;
  // Fills the lane's element of a value that this sweep keeps; one that is loaded is there already.
  Status write(Draft& draft, const ir::ExprRef& value, VectorText& text);
  // Declares all of them, once all were written. `shared`: bytes of shared memory taken before, then with them.
  std::string declare(int64_t& shared);

 private:
  const Draft& draft_;
  std::vector<ResidentValue> all_;
};

}  // namespace solstice::families::rows
