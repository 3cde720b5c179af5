#include "ir/interpret/split.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/condition.h"

namespace solstice::ir {

void conjuncts(const ExprRef& e, std::vector<ExprRef>& out) {
  if (e->op != Op::kAnd) {
    out.push_back(e);
    return;
  }
  conjuncts(e->args[0], out);
  conjuncts(e->args[1], out);
}

namespace {

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
  return r == Reducer::kSum || r == Reducer::kProd || r == Reducer::kMax || r == Reducer::kMin || r == Reducer::kAny ||
         r == Reducer::kAll;
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

ExprRef all_of(const std::vector<ExprRef>& conditions) {
  ExprRef out = conditions.empty() ? nullptr : conditions[0];
  for (size_t i = 1; i < conditions.size(); ++i) out = make(Op::kAnd, {out, conditions[i]});
  return out;
}

// The reduction over one part: that over its longest index within that over the others, if all conditions bound an
// index.
ExprRef nest(Reducer reducer, const std::vector<Index>& indices, Part part, const ExprRef& body) {
  const auto shorter = [&](int a, int b) {
    return indices[static_cast<size_t>(a)].extent < indices[static_cast<size_t>(b)].extent;
  };
  const int longest = *std::max_element(part.binders.begin(), part.binders.end(), shorter);
  const auto bounds = [&](const ExprRef& c) { return bound_on(c, false, longest).has_value(); };
  if (part.binders.size() < 2 || part.conditions.empty() ||
      !std::all_of(part.conditions.begin(), part.conditions.end(), bounds)) {
    return make_reduce(reducer, {part.binders.begin(), part.binders.end()}, body, all_of(part.conditions));
  }
  const auto inner = std::stable_partition(part.conditions.begin(), part.conditions.end(),
                                           [&](const ExprRef& c) { return bound_on(c, false, longest)->last == 0; });
  const ExprRef within = make_reduce(reducer, {longest}, body, all_of({inner, part.conditions.end()}));
  part.conditions.erase(inner, part.conditions.end());
  part.binders.erase(longest);
  return nest(reducer, indices, std::move(part), within);
}

ExprRef split(const std::vector<Index>& indices, const ExprRef& e) {
  if (e->op != Op::kReduce || e->args.size() < 2 || !nests(e->reducer)) return e;
  const std::vector<Part> parts = parts_of(*e);
  std::vector<int> free;
  for (const int b : e->binders) {
    const bool related = std::any_of(parts.begin(), parts.end(), [&](const Part& p) { return p.binders.count(b) > 0; });
    if (!related) free.push_back(b);
  }
  if (!separable(parts)) return e;
  ExprRef out = free.empty() ? e->args[0] : make_reduce(e->reducer, free, e->args[0]);
  for (const Part& p : parts) {
    out = nest(e->reducer, indices, p, out);
  }
  return out;
}

// An expression that stands in several places stays one, so that it is evaluated once.
ExprRef split_all(const std::vector<Index>& indices, const ExprRef& root, std::map<ExprRef, ExprRef>& done) {
  if (root->args.empty()) return root;
  const auto known = done.find(root);
  if (known != done.end()) return known->second;
  auto copy = std::make_shared<Expr>(*root);
  for (ExprRef& a : copy->args) a = split_all(indices, a, done);
  return done[root] = split(indices, copy);
}

}  // namespace

ExprRef split_domains(const std::vector<Index>& indices, const ExprRef& root) {
  std::map<ExprRef, ExprRef> done;
  return split_all(indices, root, done);
}

}  // namespace solstice::ir
