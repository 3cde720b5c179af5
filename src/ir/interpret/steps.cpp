#include "ir/interpret/steps.h"

#include <algorithm>

namespace solstice::ir {
namespace {

// The dim of the left side that is this index alone; -1: none.
int own_dim(const Equation& equation, int index) {
  for (size_t d = 0; d < equation.lhs.size(); ++d) {
    if (equation.lhs[d]->op == Op::kIndex && equation.lhs[d]->id == index) return static_cast<int>(d);
  }
  return -1;
}

}  // namespace

StepClasses::StepClasses(const Program& program, const std::vector<int>& equations) : program_(program) {
  for (const int id : equations) {
    const Equation& e = program.equation(id);
    targets_.insert(e.target);
    for (size_t d = 0; d < e.lhs.size(); ++d) {
      const auto form = as_affine(e.lhs[d]);
      if (form && form->coefficient(e.step_index) != 0) {
        steps_.insert({e.target, d});
      } else if (const int c = class_of({e.target, d}); e.lhs[d]->op != Op::kIndex) {
        coupled_.insert(c);
      }
    }
  }
  for (const int id : equations) {
    walk(program.equation(id).rhs, [&](const Expr& e) {
      if (e.op == Op::kRead && targets_.count(e.id)) visit(program.equation(id), e);
    });
  }
  std::set<int> roots;
  for (const int c : coupled_) roots.insert(root(c));
  coupled_ = std::move(roots);
}

void StepClasses::visit(const Equation& equation, const Expr& read) {
  for (size_t d = 0; d < program_.tensor(read.id).shape.size(); ++d) {
    if (steps_.count({read.id, d})) continue;
    const int there = class_of({read.id, d});
    const bool bare = read.args[d]->op == Op::kIndex && read.args[d]->id != equation.step_index;
    const int here = bare ? own_dim(equation, read.args[d]->id) : -1;
    if (here < 0) {
      coupled_.insert(there);
    } else {
      const int a = root(there), b = root(class_of({equation.target, static_cast<size_t>(here)}));
      parent_[static_cast<size_t>(a)] = b;
    }
  }
}

int StepClasses::class_of(const Place& place) {
  const auto [known, added] = classes_.emplace(place, static_cast<int>(parent_.size()));
  if (added) parent_.push_back(known->second);
  return known->second;
}

int StepClasses::root(int c) const {
  while (parent_[static_cast<size_t>(c)] != c) c = parent_[static_cast<size_t>(c)];
  return c;
}

std::vector<int> StepClasses::separate(int equation) const {
  const Equation& e = program_.equation(equation);
  std::vector<int> out;
  for (const int id : e.free) {
    const int d = id == e.step_index ? -1 : own_dim(e, id);
    const auto known = d < 0 ? classes_.end() : classes_.find({e.target, static_cast<size_t>(d)});
    const bool is_separate = known != classes_.end() && coupled_.count(root(known->second)) == 0;
    out.push_back(is_separate ? root(known->second) : -1);
  }
  return out;
}

}  // namespace solstice::ir
