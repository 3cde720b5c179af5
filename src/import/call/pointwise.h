// Shared parts of rules of elementwise operators: operands that broadcast, read element by element.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "import/call/call.h"

namespace solstice::importer {

// The value's term with the rounding that PyTorch's storage implies, for use in comparisons, floor, arg-reductions:
// an explicit cast unless the value is a tensor of the interface (which is stored already) or no float.
TermRef as_stored(const Call& call, const Value& value, TermRef term);

// y[i..] = f(operands[i..]) with broadcasting; a closed form if all operands are.
using PointFunction = std::function<TermRef(const Terms&)>;
Result<Value> pointwise(Call& call, const Operands& operands, DType dtype, const PointFunction& f);
// The same, yielded as the result of the node.
Status yield_pointwise(Call& call, const Operands& operands, DType dtype, const PointFunction& f);
// y[i..] = f(self[i..])
Status map_self(Call& call, const std::function<TermRef(const TermRef&)>& f);

// The operand `name`: a tensor's value, or a scalar as a closed form of rank 0.
Result<Value> operand(Call& call, const char* name, DType dtype);

// A vote for the name of the axis's dim, where the axis is one dim.
void hint(Call& call, const Axis& axis, const std::string& name);

// Loops over the broadcast shape of the operands, and where each operand is read for them.
struct Broadcast {
  Axes axes;
  std::vector<Indices> at;  // one list an operand
};
Result<Broadcast> broadcast(Call& call, const Operands& operands);

}  // namespace solstice::importer
