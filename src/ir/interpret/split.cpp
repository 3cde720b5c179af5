#include "ir/interpret/split.h"

#include <algorithm>
#include <set>

namespace solstice::ir {
namespace {

void conjuncts(const ExprRef& e, std::vector<ExprRef>& out) {
  if (e->op != Op::kAnd) {
    out.push_back(e);
    return;
  }
  conjuncts(e->args[0], out);
  conjuncts(e->args[1], out);
}

// Bound indices that conditions relate, with those conditions.
struct Part {
  std::set<int> binders;
  std::vector<ExprRef> conditions;
};

bool meets(const std::set<int>& a, const std::set<int>& b) {
  return std::any_of(a.begin(), a.end(), [&](int id) { return b.count(id) > 0; });
}

std::vector<Part> parts_of(const Expr& e) {
  std::vector<ExprRef> conditions;
  conjuncts(e.args[1], conditions);
  std::vector<Part> parts;
  for (const ExprRef& c : conditions) {
    Part merged;
    merged.conditions = {c};
    walk(c, [&](const Expr& i) {
      const bool bound = i.op == Op::kIndex && std::find(e.binders.begin(), e.binders.end(), i.id) != e.binders.end();
      if (bound) merged.binders.insert(i.id);
    });
    std::vector<Part> rest;
    for (Part& p : parts) {
      if (!meets(p.binders, merged.binders)) {
        rest.push_back(std::move(p));
        continue;
      }
      merged.binders.insert(p.binders.begin(), p.binders.end());
      merged.conditions.insert(merged.conditions.begin(), p.conditions.begin(), p.conditions.end());
    }
    rest.push_back(std::move(merged));
    parts = std::move(rest);
  }
  return parts;
}

bool nests(Reducer r) {
  return r == Reducer::kSum || r == Reducer::kProd || r == Reducer::kMax || r == Reducer::kMin || r == Reducer::kAny || r == Reducer::kAll;
}

// A condition that reads, or holds no bound index, may guard the others: those stay together.
bool separable(const std::vector<Part>& parts) {
  return std::all_of(parts.begin(), parts.end(), [](const Part& p) {
    bool reads = false;
    for (const ExprRef& c : p.conditions) {
      walk(c, [&](const Expr& e) { reads |= e.op == Op::kRead || e.op == Op::kReduce || e.op == Op::kRank; });
    }
    return !reads && !p.binders.empty();
  });
}

ExprRef split(const ExprRef& e) {
  if (e->op != Op::kReduce || e->args.size() < 2 || !nests(e->reducer)) return e;
  const std::vector<Part> parts = parts_of(*e);
  std::vector<int> free;
  for (const int b : e->binders) {
    const bool related = std::any_of(parts.begin(), parts.end(), [&](const Part& p) { return p.binders.count(b) > 0; });
    if (!related) free.push_back(b);
  }
  if (parts.size() + (free.empty() ? 0 : 1) < 2 || !separable(parts)) return e;
  ExprRef out = free.empty() ? e->args[0] : make_reduce(e->reducer, free, e->args[0]);
  for (const Part& p : parts) {
    ExprRef where = p.conditions[0];
    for (size_t i = 1; i < p.conditions.size(); ++i) where = make(Op::kAnd, {where, p.conditions[i]});
    out = make_reduce(e->reducer, {p.binders.begin(), p.binders.end()}, out, where);
  }
  return out;
}

}  // namespace

ExprRef split_domains(const ExprRef& root) {
  if (root->args.empty()) return root;
  auto copy = std::make_shared<Expr>(*root);
  for (ExprRef& a : copy->args) a = split_domains(a);
  return split(copy);
}

}  // namespace solstice::ir
