// Expressions that have a file of their own (read.h, reduction.h).
#pragma once

#include "base/result.h"
#include "pytorch/value.h"

namespace solstice::pytorch {

class Writer;

Result<Value> write_read(Writer& writer, const ir::Expr& read);  // in the tensor's own dtype
Result<Value> write_reduction(Writer& writer, const ir::Expr& reduction);
Result<Value> write_rank(Writer& writer, const ir::Expr& rank);

}  // namespace solstice::pytorch
