#include "ir/interpret/running.h"

#include <algorithm>
#include <cmath>

#include "ir/interpret/compile.h"
#include "ir/interpret/machine.h"

namespace solstice::ir {
namespace {

// Is the whole target defined row by row, the step along its rows?
bool runs_along_rows(const Program& program, const Equation& e) {
  const auto& shape = program.target_of(e).shape;
  if (e.free.empty() || e.free.back() != e.step_index || e.step_sign < 0 || e.lhs.size() != e.free.size()) return false;
  for (size_t d = 0; d < e.lhs.size(); ++d) {
    if (e.lhs[d]->op != Op::kIndex || e.lhs[d]->id != e.free[d]) return false;
    if (e.indices[static_cast<size_t>(e.free[d])].extent != shape[d]) return false;
  }
  return true;
}

// The element of the target one step before, a literal before the first.
bool is_carried(const Equation& e, const Expr& read) {
  if (read.op != Op::kRead || read.id != e.target || !read.has_else) return false;
  const Op otherwise = read.args.back()->op;
  if (otherwise != Op::kReal && otherwise != Op::kInt) return false;
  for (size_t d = 0; d < e.free.size(); ++d) {
    const auto form = as_affine(read.args[d]);
    const bool along = d + 1 == e.free.size();
    if (!form || *form != Affine{along ? -1 : 0, {{e.free[d], 1}}}) return false;
  }
  return true;
}

template <typename F>
double carry_on(const double* values, int n, double carried, double* out, F&& f) {
  for (int l = 0; l < n; ++l) out[l] = carried = f(carried, values[l]);
  return carried;
}

}  // namespace

std::optional<Routine> compile_running(const Program& program, const Equation& equation) {
  const Expr& root = *equation.rhs;
  const bool known = root.op == Op::kAdd || root.op == Op::kMul || root.op == Op::kMin || root.op == Op::kMax;
  if (!known || !runs_along_rows(program, equation)) return std::nullopt;
  const bool first = is_carried(equation, *root.args[0]);
  const ExprRef& carried = root.args[first ? 0 : 1];
  const ExprRef& rest = root.args[first ? 1 : 0];
  if (!is_carried(equation, *carried) || reads(rest, equation.target)) return std::nullopt;
  Equation parts = equation;
  parts.group = -1;
  parts.rhs = rest;
  Routine out = compile(program, parts);
  const Expr& start = *carried->args.back();
  out.text = to_text(program, equation);
  out.carry = Carry{root.op, start.op == Op::kReal ? start.real : static_cast<double>(start.integer)};
  return out;
}

// Turns the block's values into the running ones.
const double* Machine::carry_on(const double* values) {
  State& s = states_[0];
  const int64_t row = frame(0).extents.back();
  const auto most = [](double a, double b) {
    return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::max(a, b);
  };
  const auto least = [](double a, double b) {
    return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::min(a, b);
  };
  for (int l = 0; l < s.lanes;) {
    const int64_t step = s.index_at(s.start.size() - 1, l);
    const int n = static_cast<int>(std::min<int64_t>(s.lanes - l, row - step));
    if (step == 0) carried_ = code_.carry->start;
    const auto run = [&](auto&& f) { carried_ = ir::carry_on(values + l, n, carried_, running_.data() + l, f); };
    if (code_.carry->op == Op::kAdd) run([](double a, double b) { return a + b; });
    if (code_.carry->op == Op::kMul) run([](double a, double b) { return a * b; });
    if (code_.carry->op == Op::kMax) run(most);
    if (code_.carry->op == Op::kMin) run(least);
    l += n;
  }
  return running_.data();
}

}  // namespace solstice::ir
