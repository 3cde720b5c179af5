// Changes to expressions and programs that the rewrites share.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ir/domain.h"
#include "ir/program.h"

namespace solstice::ir {

// `change` sees every node after its operands; null leaves the node as it is.
using Change = std::function<ExprRef(const ExprRef&)>;
ExprRef changed(const ExprRef& root, const Change& change);
// The node `from` replaced by `to`, by identity.
ExprRef replaced(const ExprRef& root, const Expr* from, const ExprRef& to);
// An expression of `from` as one of `into`: `values` for its free indices, fresh ones for those it binds.
ExprRef transplanted(Equation& into, const Equation& from, const ExprRef& e, std::map<int, ExprRef> values);
// The right side of `definition` at a read in `into`; the read has no `else`.
ExprRef instance(Equation& into, const Equation& definition, const Expr& read);

ExprRef product(const std::vector<ExprRef>& factors);  // of none: 1
// The extent of an index, which keeps its dim's name when it is printed.
ExprRef extent_of(const Equation& equation, int index);

bool depends(const ExprRef& e, const IndexSet& indices);
bool has_infinity(const ExprRef& e);  // a literal one
bool gathers(const ExprRef& e);       // a read whose index is read
// Does `node` stand where it is evaluated only if something else says so: below select, and, or, `else`, `where`?
bool is_guarded(const ExprRef& root, const Expr* node);
// The reductions below `root` that `wanted` accepts, outer ones first.
std::vector<ExprRef> reductions_in(const ExprRef& root, const std::function<bool(const Expr&)>& wanted);
void add_conjuncts(const ExprRef& condition, std::vector<ExprRef>& out);
ExprRef conjunction(const std::vector<ExprRef>& parts);  // null of none
const Index& index_of(const Equation& equation, int id);
std::string names_of(const Equation& equation, const std::vector<int>& indices);  // "`p`, `q`"

// A tensor name that nothing has yet.
std::string fresh_name(const Program& program, const std::string& stem);
// Puts `rhs`, over `free` indices of equation `place`, into a local of its own defined before that equation; returns
// the read of it. `place` grows by one.
ExprRef hoisted(Program& program, int& place, const ExprRef& rhs, const std::string& stem);
void insert_equation(Program& program, int before, Equation equation);
// The tensors that an output, a buffer or an opaque operation needs.
std::vector<bool> needed_tensors(const Program& program);
// Without equations of tensors that nothing needs.
Program without_dead(Program program);

}  // namespace solstice::ir
