// Shared parts of rules that read and write through indices.
#pragma once

#include "import/call/call.h"

namespace solstice::importer {

// The axis as one loop, which rankings, arg-reductions and prefixes need.
Axis single(Call& call, const Axis& axis);

// All elements as one axis, row by row.
Value flattened(Call& call, const Value& value);

// Positions that broadcast indices point to, one an axis of a tensor; null for the axes that they leave as they are.
struct Pointers {
  Axes axes;                       // of the broadcast indices
  std::vector<TermRef> positions;  // counted from the front
  int place = 0;                   // of those axes in what `tensor[indices]` yields
};

// Pointers of the argument `indices`. Unsupported: masks, whose shape depends on their values.
Result<Pointers> pointers_of(Call& call, const Value& tensor);

// One of the indices is a mask.
bool has_mask(const std::vector<std::optional<Value>>& indices);
// x[mask] = values, or += them, where all that the mask takes gets the same.
Status put_where(Call& call);

// A negative position counts from the end.
TermRef from_front(Call& call, const TermRef& position, const Axis& axis);

// A position of the tensor. Where the equations alone give the position a range beyond the axis (a count less one), it
// is taken modulo the extent, which changes no position that PyTorch accepts: the static checks want to see the range.
Index index_at(const Call& call, const TermRef& position, const Axis& axis);

}  // namespace solstice::importer
