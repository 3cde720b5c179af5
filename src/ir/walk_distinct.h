// A visit of every distinct node of an expression. Inlined definitions share parts, and how often a shared part occurs
// may be exponential in the length of a chain (h = h + g * (x - h)), so ir::walk never ends there.
#pragma once

#include <unordered_set>

#include "ir/program.h"

namespace solstice::ir {

// Parents come first. Of several expressions that share nodes, nodes that are among `seen` are left out; the others
// join it.
template <typename F>
void walk_distinct(const ExprRef& root, std::unordered_set<const Expr*>& seen, F&& visit) {
  const auto below = [&](const auto& self, const ExprRef& e) -> void {
    if (!e || !seen.insert(e.get()).second) return;
    visit(*e);
    for (const ExprRef& arg : e->args) self(self, arg);
  };
  below(below, root);
}

template <typename F>
void walk_distinct(const ExprRef& root, F&& visit) {
  std::unordered_set<const Expr*> seen;
  walk_distinct(root, seen, visit);
}

}  // namespace solstice::ir
