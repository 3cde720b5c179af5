#include "ir/analysis/reads.h"

#include <algorithm>

#include "ir/equal.h"
#include "ir/walk_distinct.h"

namespace solstice::ir {
namespace {

// Reducers whose result may be known before the last value: a true one, a false one, zero, the end of a type.
bool may_stop_early(const Expr& reduce) {
  switch (reduce.reducer) {
    case Reducer::kAny:
    case Reducer::kAll:
      return true;
    case Reducer::kProd:
    case Reducer::kMax:
    case Reducer::kMin:
      return reduce.args[0]->kind != ValueKind::kReal;  // of reals NaN may still come
    default:
      return false;
  }
}

// Either operand may decide alone.
bool decides_alone(const Expr& e) {
  return e.op == Op::kAnd || e.op == Op::kOr || e.op == Op::kBitAnd || (e.op == Op::kMul && e.kind != ValueKind::kReal);
}

// The value where an index of a read lies outside.
bool is_otherwise(const Expr& e, size_t argument) {
  return e.op == Op::kRead && e.has_else && argument + 1 == e.args.size();
}

// An index of the read is a value.
bool looks_up(const Expr& read) {
  const std::vector<ExprRef> indices = read_indices(read);
  return std::any_of(indices.begin(), indices.end(), reads_values);
}

// Only reads that neither operand narrows by conditions of its own.
void certain_in_both(const ExprRef& a, const ExprRef& b, const Domain& domain, const ReadVisitor& visit) {
  const size_t conditions = domain.conditions().size();
  std::vector<ExprRef> of_a;
  each_certain_read(a, domain, [&](const ExprRef& read, const Domain& around) {
    if (around.conditions().size() == conditions) of_a.push_back(read);
  });
  each_certain_read(b, domain, [&](const ExprRef& read, const Domain& around) {
    const auto is_read = [&](const ExprRef& other) { return same(read, other); };
    if (around.conditions().size() == conditions && std::any_of(of_a.begin(), of_a.end(), is_read)) visit(read, around);
  });
}

}  // namespace

Domain inside(const Expr& node, size_t argument, const Domain& domain) {
  if (node.op == Op::kReduce && argument == 0 && node.args.size() > 1) return domain.with(node.args[1]);
  if (node.op == Op::kSelect && argument > 0) return domain.with(node.args[0], argument == 2);
  return domain;
}

std::vector<ExprRef> read_indices(const Expr& read) {
  return {read.args.begin(), read.args.end() - (read.has_else ? 1 : 0)};
}

bool reads_values(const ExprRef& e) {
  bool found = false;
  walk_distinct(e, [&](const Expr& node) { found = found || node.op == Op::kRead; });
  return found;
}

void each_read(const ExprRef& e, const Domain& domain, const ReadVisitor& visit) {
  if (e->op == Op::kRead) visit(e, domain);
  for (size_t i = 0; i < e->args.size(); ++i) each_read(e->args[i], inside(*e, i, domain), visit);
}

void each_certain_read(const ExprRef& e, const Domain& domain, const ReadVisitor& visit) {
  if (e->op == Op::kRead) visit(e, domain);
  if (e->op == Op::kSelect && reads_values(e->args[0])) {
    each_certain_read(e->args[0], domain, visit);
    return certain_in_both(e->args[1], e->args[2], domain, visit);
  }
  if (decides_alone(*e)) return certain_in_both(e->args[0], e->args[1], domain, visit);
  if (e->op == Op::kReduce && may_stop_early(*e)) return;
  const bool chosen = e->op == Op::kReduce && e->args.size() > 1 && reads_values(e->args[1]);
  for (size_t i = chosen ? 1 : 0; i < e->args.size(); ++i) {
    if (!(is_otherwise(*e, i) && looks_up(*e))) each_certain_read(e->args[i], inside(*e, i, domain), visit);
  }
}

}  // namespace solstice::ir
