#include "pytorch/draws.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/analysis/reads.h"
#include "ir/domain.h"
#include "ir/equal.h"
#include "ir/integers/integers.h"
#include "ir/walk_distinct.h"
#include "pytorch/value.h"

namespace solstice::pytorch {
namespace {

using ir::Equation;
using ir::Expr;
using ir::ExprRef;
using ir::Op;
using ir::Reducer;
using ir::TensorKind;
using ir::ValueKind;

constexpr int kDeepest = 12;  // definitions that a requirement goes through

ir::ValueRange range_of(const Equation& equation, const ExprRef& e) {
  return ir::Integers(equation.indices, [](int) { return std::optional<ir::ValueRange>(); }).range(e);
}

bool is_even_power(const Expr& e) {
  return e.op == Op::kPow && e.args[1]->op == Op::kInt && e.args[1]->integer % 2 == 0;
}

std::vector<int64_t> row_major(const std::vector<int64_t>& shape) {
  std::vector<int64_t> out(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    out[d] = stride;
    stride *= shape[d];
  }
  return out;
}

}  // namespace

Draws::Draws(const ir::Program& program) : program_(program) {
  for (const Equation& e : program.equations) visit(e, e.rhs);
}

void Draws::visit(const Equation& e, const ExprRef& root) {
  ir::walk_distinct(root, [&](const Expr& x) {
    switch (x.op) {
      case Op::kRead:
        return visit_read(e, x);
      case Op::kEq:
      case Op::kLt:
      case Op::kLe:
      case Op::kGt:
      case Op::kGe:
        return visit_comparison(e, x);
      case Op::kFloorDiv:
      case Op::kMod:
        return require(e, x.args[1], {1, 8});
      case Op::kSqrt:
      case Op::kRsqrt:
      case Op::kLog:
      case Op::kLog1p:
      case Op::kLgamma:
        return require_positive(e, x.args[0]);
      case Op::kDiv:
        return require_positive(e, x.args[1]);
      case Op::kPow:
        if (x.args[1]->op != Op::kInt) require_positive(e, x.args[0]);
        return;
      case Op::kReduce:
        return visit_sum(e, x);
      default:
        return;
    }
  });
}

void Draws::visit_read(const Equation& e, const Expr& read) {
  const std::vector<int64_t>& shape = program_.tensor(read.id).shape;
  for (size_t d = 0; d < shape.size(); ++d) require(e, read.args[d], {0, shape[d] - 1});
}

// `where idx[j] == r` scatters to r, `j < length[b]` counts what is there.
void Draws::visit_comparison(const Equation& e, const Expr& comparison) {
  for (const size_t side : {size_t{0}, size_t{1}}) {
    const ExprRef &value = comparison.args[side], &other = comparison.args[1 - side];
    if (value->kind != ValueKind::kInt || other->kind != ValueKind::kInt) continue;
    bool over_index = false;
    ir::walk_distinct(other, [&](const Expr& x) { over_index = over_index || x.op == Op::kIndex; });
    if (ir::reads_values(other) || !ir::reads_values(value) || !over_index) continue;
    const ir::ValueRange range = range_of(e, other);
    if (!range.bounded()) continue;
    require(e, value, {range.low, comparison.op == Op::kEq ? range.high : range.high + 1});
  }
}

void Draws::visit_sum(const Equation& e, const Expr& sum) {
  if (sum.reducer != Reducer::kSum) return;
  ir::walk_distinct(sum.args[0], [&](const Expr& x) {
    if (x.op != Op::kRead || program_.tensor(x.id).kind != TensorKind::kParam) return;
    int64_t terms = 1;
    for (const int id : sum.binders) {
      const bool reads = std::any_of(x.args.begin(), x.args.end(),
                                     [&](const ExprRef& arg) { return ir::indices_of(arg).contains(id); });
      if (reads) terms *= e.indices[static_cast<size_t>(id)].extent;
    }
    int64_t& most = summed_[x.id];
    most = std::max(most, terms);
  });
}

void Draws::narrow(int tensor, Range range) {
  const auto [found, is_new] = ranges_.emplace(tensor, range);
  if (is_new) return;
  Range& known = found->second;
  const Range both = {std::max(known.low, range.low), std::min(known.high, range.high)};
  if (both.low <= both.high) known = both;
}

void Draws::require(const Equation& equation, const ExprRef& e, Range range, int depth) {
  if (depth > kDeepest || !ir::reads_values(e)) return;
  const auto rest = [&](const ExprRef& other) { return range_of(equation, other); };
  switch (e->op) {
    case Op::kRead: {
      const ir::Tensor& t = program_.tensor(e->id);
      if (is_given(t) && t.value == ValueKind::kInt) narrow(e->id, range);
      for (const Equation& made : program_.equations) {
        if (made.target == e->id && made.group < 0) require(made, made.rhs, range, depth + 1);
      }
      return;
    }
    case Op::kAdd:
    case Op::kSub:
      for (const size_t side : {size_t{0}, size_t{1}}) {
        const ir::ValueRange other = rest(e->args[1 - side]);
        if (!other.bounded()) continue;
        if (e->op == Op::kAdd)
          require(equation, e->args[side], {range.low - other.low, range.high - other.high}, depth + 1);
        if (e->op == Op::kSub && side == 0)
          require(equation, e->args[0], {range.low + other.high, range.high + other.low}, depth + 1);
        if (e->op == Op::kSub && side == 1)
          require(equation, e->args[1], {other.high - range.high, other.low - range.low}, depth + 1);
      }
      return;
    case Op::kMul:
      for (const size_t side : {size_t{0}, size_t{1}}) {
        const ExprRef& factor = e->args[1 - side];
        if (factor->op != Op::kInt || factor->integer <= 0) continue;
        const int64_t c = factor->integer;
        require(equation, e->args[side], {(range.low + c - 1) / c, range.high / c}, depth + 1);
      }
      return;
    case Op::kFloorDiv:
      if (e->args[1]->op == Op::kInt && e->args[1]->integer > 0) {
        const int64_t c = e->args[1]->integer;
        require(equation, e->args[0], {range.low * c, range.high * c + c - 1}, depth + 1);
      }
      return;
    case Op::kSelect:
      require(equation, e->args[1], range, depth + 1);
      return require(equation, e->args[2], range, depth + 1);
    case Op::kMin:
    case Op::kMax:
      require(equation, e->args[0], range, depth + 1);
      return require(equation, e->args[1], range, depth + 1);
    case Op::kCast:
      return require(equation, e->args[0], range, depth + 1);
    default:
      return;
  }
}

void Draws::require_positive(const Equation& equation, const ExprRef& e, int depth) {
  if (depth > kDeepest || !ir::reads_values(e)) return;
  const auto all = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) require_positive(equation, e->args[i], depth + 1);
  };
  switch (e->op) {
    case Op::kRead: {
      if (is_given(program_.tensor(e->id))) positive_.insert(e->id);
      for (const Equation& made : program_.equations) {
        if (made.target == e->id && made.group < 0) require_positive(made, made.rhs, depth + 1);
      }
      return;
    }
    case Op::kMul:
      return ir::same(e->args[0], e->args[1]) ? void() : all(2);
    case Op::kAdd:
    case Op::kDiv:
    case Op::kMin:
    case Op::kMax:
      return all(2);
    case Op::kSub:
    case Op::kCast:
    case Op::kSqrt:
      return all(1);
    case Op::kPow:
      return is_even_power(*e) ? void() : all(1);
    case Op::kSelect:
      require_positive(equation, e->args[1], depth + 1);
      return require_positive(equation, e->args[2], depth + 1);
    case Op::kReduce:
      return e->reducer == Reducer::kVar || e->reducer == Reducer::kLogSumExp ? void() : all(1);
    default:
      return;
  }
}

std::string Draws::integers(const ir::Tensor& t, const std::string& shape) const {
  const auto found = ranges_.find(program_.find_tensor(t.name));
  Range range{-8, 8};
  if (t.dtype == DType::kU8) range = {0, 255};
  if (found != ranges_.end()) range = found->second;
  const std::string dtype = t.dtype == DType::kI64 ? "" : ", dtype=" + torch_name(*t.dtype);
  return fmt::format("torch.randint({}, {}, {}{})", range.low, range.high + 1, shape, dtype);
}

std::string Draws::floats(const ir::Tensor& t, const std::string& shape) const {
  const int id = program_.find_tensor(t.name);
  const bool eighth = size_of(*t.dtype) == 1;
  const std::string dtype = t.dtype == DType::kF32 || eighth ? "" : ", dtype=" + torch_name(*t.dtype);
  std::string out = positive_.contains(id) ? fmt::format("(torch.rand({}{}) + 0.5)", shape, dtype)
                                           : fmt::format("torch.randn({}{})", shape, dtype);
  const auto summed = summed_.find(id);
  if (summed != summed_.end() && summed->second > 1) out += fmt::format(" * {} ** -0.5", summed->second);
  return eighth ? fmt::format("({}).to({})", out, torch_name(*t.dtype)) : out;
}

std::string Draws::text_of(const ir::Tensor& t) const {
  const std::string shape = tuple_text(t.shape);
  std::string out = is_float(*t.dtype)        ? floats(t, shape)
                    : t.dtype == DType::kBool ? fmt::format("torch.rand({}) < 0.5", shape)
                                              : integers(t, shape);
  if (t.strides.empty() || t.strides == row_major(t.shape)) return out;
  return fmt::format("torch.empty_strided({}, {}, dtype={}).copy_({})", shape, tuple_text(t.strides),
                     torch_name(*t.dtype), out);
}

}  // namespace solstice::pytorch
