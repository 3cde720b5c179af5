// Reads of an expression: all of them, and those that no algorithm can leave out, whatever the values are. A select on
// a value needs one of its branches, and a conjunction, a product of integers or an `any` may be known before all of
// their operands are.
#pragma once

#include <functional>
#include <vector>

#include "ir/domain.h"
#include "ir/program.h"

namespace solstice::ir {

using ReadVisitor = std::function<void(const ExprRef& read, const Domain& around)>;

// With the domain around each.
void each_read(const ExprRef& e, const Domain& domain, const ReadVisitor& visit);
void each_certain_read(const ExprRef& e, const Domain& domain, const ReadVisitor& visit);

// The domain inside a node's argument: a reduction's condition, the branch of a select.
Domain inside(const Expr& node, size_t argument, const Domain& domain);
std::vector<ExprRef> read_indices(const Expr& read);
// A tensor is read in it.
bool reads_values(const ExprRef& e);

}  // namespace solstice::ir
