#include "ir/equivalence/uses.h"

#include <algorithm>
#include <cmath>

namespace solstice::ir {
namespace {

constexpr size_t kMostPlaces = 24;
constexpr size_t kMostNumbers = 16;
constexpr double kLeastNumber = 2, kMostNumber = 0x1p62;
constexpr int64_t kLargestPlace = int64_t{1} << 40;

bool is_literal(const ExprRef& e) { return e->op == Op::kInt || e->op == Op::kReal; }
double value_of(const ExprRef& e) { return e->op == Op::kInt ? static_cast<double>(e->integer) : e->real; }

// Products reach a number near its root, or near its quotient by another.
std::vector<double> with_roots(const std::set<int64_t>& integers) {
  std::set<double> out;
  for (const int64_t i : integers) {
    const auto v = static_cast<double>(i);
    out.insert({v, std::floor(std::sqrt(v))});
    for (const int64_t other : integers) out.insert(std::floor(v / static_cast<double>(other)));
  }
  return {out.begin(), out.end()};
}

}  // namespace

Uses::Uses(const Program& program, const Program* other) : program_(program), uses_(program.tensors.size()) {
  add(program, false);
  if (other) add(*other, true);
  while (found_.size() > kMostPlaces) found_.erase(std::prev(found_.end()));
  places_.assign(found_.begin(), found_.end());
  numbers_ = with_roots(integers_);
}

void Uses::add(const Program& program, bool other) {
  for (const Equation& e : program.equations) {
    walk(e.rhs, [&](const Expr& node) {
      if (node.op == Op::kRead && !other) index(program, node);
      if (node.op == Op::kReduce) extremum(program, node);
      if (node.op == Op::kRead && node.has_else) literal(node.args.back());
      if (node.kind == ValueKind::kReal && (node.op == Op::kMin || node.op == Op::kMax || node.op == Op::kSelect)) {
        for (const ExprRef& a : node.args) literal(a);
      }
      if (node.op >= Op::kLt && node.op <= Op::kGt) compare(program, node), place(node);
      number(node);
    });
  }
}

void Uses::index(const Program& program, const Expr& read) {
  const auto& shape = program.tensor(read.id).shape;
  for (size_t d = 0; d < shape.size() && d < read.args.size(); ++d) {
    walk(read.args[d], [&](const Expr& i) {
      if (i.op != Op::kRead) return;
      int64_t& below = uses_[static_cast<size_t>(i.id)].below;
      below = below < 0 ? shape[d] : std::min(below, shape[d]);
    });
  }
}

void Uses::extremum(const Program& program, const Expr& e) {
  const bool wanted = e.reducer == Reducer::kMax || e.reducer == Reducer::kMin || e.reducer == Reducer::kArgMax ||
                      e.reducer == Reducer::kArgMin;
  if (!wanted) return;
  walk(e.args[0], [&](const Expr& read) {
    if (read.op != Op::kRead) return;
    const int id = program_.find_tensor(program.tensor(read.id).name);
    for (size_t d = 0; id >= 0 && d < program.tensor(read.id).shape.size(); ++d) {
      const Expr& i = *read.args[d];
      const bool bound = i.op == Op::kIndex && std::find(e.binders.begin(), e.binders.end(), i.id) != e.binders.end();
      if (bound) uses_[static_cast<size_t>(id)].extremal.insert(d);
    }
  });
}

void Uses::compare(const Program& program, const Expr& e) {
  for (const size_t side : {size_t{0}, size_t{1}}) {
    const ExprRef &read = e.args[side], &number = e.args[1 - side];
    if (read->kind == ValueKind::kReal) literal(number);
    if (read->op != Op::kRead || !is_literal(number) || !std::isfinite(value_of(number))) continue;
    const int id = program_.find_tensor(program.tensor(read->id).name);
    if (id >= 0) uses_[static_cast<size_t>(id)].special.push_back(value_of(number));
  }
}

void Uses::literal(const ExprRef& e) {
  const ExprRef& number = e->op == Op::kNeg ? e->args[0] : e;
  if (is_literal(number) && std::isfinite(value_of(number))) largest_ = std::max(largest_, std::abs(value_of(number)));
}

void Uses::number(const Expr& e) {
  for (const ExprRef& a : e.args) {
    const ExprRef& literal = a->op == Op::kNeg ? a->args[0] : a;
    if (literal->op != Op::kInt || integers_.size() >= kMostNumbers) continue;
    const double size = std::abs(value_of(literal));
    if (size >= kLeastNumber && size <= kMostNumber) integers_.insert(std::abs(literal->integer));
  }
}

void Uses::place(const Expr& e) {
  for (const ExprRef& side : e.args) {
    if (side->op != Op::kInt || side->integer > kLargestPlace) continue;
    for (int64_t near = side->integer - 1; near <= side->integer + 1; ++near) {
      if (near >= 0) found_.insert(near);
    }
  }
}

}  // namespace solstice::ir
