// The names and places of a rows kernel's text: kept values, shared memory, index bindings.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/emitter.h"
#include "families/rows/phases.h"
#include "families/rows/settings.h"

namespace solstice::families::rows {

// A kept value: one vector a step.
struct Kept {
  ir::ExprRef value;
  std::string name;     // "k0"
  std::string element;  // element type of the vector: the storage type of loaded data, else the computing type
  bool loaded = false;  // filled by a vector load ahead of the sweep
  int64_t offset = 0;   // of its shared memory
};

// Whether the access moves one aligned vector of a row.
bool is_stream(const Shape& shape, const codegen::Access& access, int vector);

// Binds the row's indices from `row` and the columns' from the vector's number `c` (depth: the scope of each).
void bind_rows(codegen::Emitter& emitter, const Shape& shape);
void bind_columns(codegen::Emitter& emitter, const Shape& shape, int vector, int depth);
// The innermost column index steps by lanes too, from here on.
void bind_lanes(codegen::Emitter& emitter, const Shape& shape, int vector, int depth);

}  // namespace solstice::families::rows
