// Expressions with one small mistake each.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lang/tree.h"

namespace solstice::lang::testing {

// The tensors of a scope by their number of dimensions, in text order.
using Tensors = std::map<size_t, std::vector<std::string>>;

using EachExpr = std::function<void(const std::string& kind, ExprRef changed)>;

// Calls `each` with every copy of `e` in which one thing is changed, at any depth.
void mutate(const ExprRef& e, const Tensors& tensors, const EachExpr& each);

}  // namespace solstice::lang::testing
