#include "codegen/recurrence.h"

#include <fmt/format.h>

#include <unordered_map>

#include "codegen/linear.h"

namespace solstice::codegen {
namespace {

using ir::ExprRef;
using ir::Op;
using ir::ValueKind;

constexpr int64_t kForwards = 1, kBackwards = 2;  // Expr::integer of a recurrence

// a * state + b; null: 0.
struct Form {
  ExprRef a, b;
};

class Splitter {
 public:
  Splitter(Interner& interner, const ir::Tensor& tensor, int state)
      : interner_(interner), tensor_(tensor), state_(state) {}

  const ExprRef& initial() const { return initial_; }

  Result<Form> split(const ExprRef& e) {
    if (!has_state(e)) return Form{nullptr, e};
    switch (e->op) {
      case Op::kRead:
        return read(e);
      case Op::kNeg:
        return unary(e);
      case Op::kAdd:
      case Op::kSub:
        return sum(e);
      case Op::kMul:
      case Op::kDiv:
        return product(e);
      case Op::kSelect:
        return choice(e);
      default:
        return refused(e);
    }
  }

 private:
  bool has_state(const ExprRef& e) {
    if (const auto found = memo_.find(e.get()); found != memo_.end()) return found->second;
    bool found = e->op == Op::kRead && e->id == state_;
    for (const ExprRef& arg : e->args) found = found || has_state(arg);
    return memo_[e.get()] = found;
  }

  Error refused(const ExprRef& e) const {
    return fail(Code::not_yet,
                fmt::format("`{}` is not a linear function of its previous step (`{}`)", tensor_.name, name_of(e->op)));
  }

  ExprRef real(Op op, std::vector<ExprRef> args) { return interner_.node(op, ValueKind::kReal, std::move(args)); }
  ExprRef or_zero(const ExprRef& e) { return e ? e : interner_.real(0); }

  Result<Form> read(const ExprRef& e) {
    if (e->has_else) {
      const ExprRef& otherwise = e->args.back();
      if (has_state(otherwise) || (initial_ && initial_ != otherwise)) return refused(e);
      initial_ = otherwise;
    }
    return Form{interner_.real(1), nullptr};
  }

  Result<Form> unary(const ExprRef& e) {
    SOLSTICE_TRY(Form f, split(e->args[0]));
    if (f.a) f.a = real(Op::kNeg, {f.a});
    if (f.b) f.b = real(Op::kNeg, {f.b});
    return f;
  }

  Result<Form> sum(const ExprRef& e) {
    SOLSTICE_TRY(const Form left, split(e->args[0]));
    SOLSTICE_TRY(const Form right, split(e->args[1]));
    const auto joined = [&](const ExprRef& x, const ExprRef& y) -> ExprRef {
      if (x && y) return real(e->op, {x, y});
      return x ? x : y && e->op == Op::kSub ? real(Op::kNeg, {y}) : y;
    };
    return Form{joined(left.a, right.a), joined(left.b, right.b)};
  }

  Result<Form> product(const ExprRef& e) {
    const bool right = has_state(e->args[1]);
    if (right && (e->op == Op::kDiv || has_state(e->args[0]))) return refused(e);
    SOLSTICE_TRY(Form f, split(e->args[right ? 1 : 0]));
    const ExprRef& factor = e->args[right ? 0 : 1];
    const bool alone = f.a == interner_.real(1) && e->op == Op::kMul;
    if (f.a) f.a = alone ? factor : real(e->op, {f.a, factor});
    if (f.b) f.b = real(e->op, {f.b, factor});
    return f;
  }

  Result<Form> choice(const ExprRef& e) {
    if (has_state(e->args[0])) return refused(e);
    SOLSTICE_TRY(const Form yes, split(e->args[1]));
    SOLSTICE_TRY(const Form no, split(e->args[2]));
    const auto chosen = [&](const ExprRef& x, const ExprRef& y) -> ExprRef {
      return x || y ? real(Op::kSelect, {e->args[0], or_zero(x), or_zero(y)}) : nullptr;
    };
    return Form{chosen(yes.a, no.a), chosen(yes.b, no.b)};
  }

  Interner& interner_;
  const ir::Tensor& tensor_;
  int state_;
  ExprRef initial_;
  std::unordered_map<const ir::Expr*, bool> memo_;
};

bool is_zero(const ir::Expr& e) { return (e.op == Op::kReal && e.real == 0) || (e.op == Op::kInt && e.integer == 0); }

}  // namespace

ExprRef recurrence_node(Interner& interner, const LinearStep& step) {
  ir::Expr e;
  e.op = Op::kReduce;
  e.integer = step.reverse ? kBackwards : kForwards;
  e.args = {step.b, step.a, interner.index_node(step.along)};
  return interner.intern(std::move(e));
}

bool is_recurrence(const ir::Expr& node) {
  return node.op == Op::kReduce && node.binders.empty() && node.args.size() == 3;
}

LinearStep step_of(const ir::Expr& node) {
  return {node.args[2]->id, node.integer == kBackwards, node.args[1], node.args[0]};
}

Result<LinearStep> linear_step(Interner& interner, const ExprRef& value, const ir::Tensor& tensor, int state, int along,
                               bool reverse) {
  if (tensor.value != ValueKind::kReal)
    return fail(Code::not_yet, fmt::format("`{}` is a recurrence over integers", tensor.name));
  Splitter splitter(interner, tensor, state);
  SOLSTICE_TRY(const Form form, splitter.split(value));
  LinearStep out{along, reverse, form.a ? form.a : interner.real(0), form.b ? form.b : interner.real(0)};
  const ExprRef& initial = splitter.initial();
  if (!initial || is_zero(*initial)) return out;
  const int64_t begin = reverse ? interner.index(along).extent - 1 : 0;
  const ExprRef first = interner.node(Op::kEq, ValueKind::kBool, {interner.index_node(along), interner.integer(begin)});
  const ExprRef given = interner.node(Op::kSelect, ValueKind::kReal, {first, initial, interner.real(0)});
  const ExprRef taken = interner.node(Op::kMul, ValueKind::kReal, {out.a, given});
  out.b = is_zero(*out.b) ? taken : interner.node(Op::kAdd, ValueKind::kReal, {taken, out.b});
  return out;
}

std::pair<size_t, int64_t> steps_of(const ir::Equation& equation) {
  for (size_t d = 0; d < equation.lhs.size(); ++d) {
    if (const auto form = ir::as_affine(equation.lhs[d]); form && form->coefficient(equation.step_index) != 0)
      return {d, form->offset};
  }
  return {0, 0};  // not reached: the static rules see to it
}

Result<bool> OpenRecurrence::is_state(const Interner& interner, const ir::Program& program, const ir::Expr& read,
                                      const ir::Equation& equation) const {
  const auto other = [&](const char* why) {
    return fail(Code::not_yet, fmt::format("`{}` {}; only linear recurrences of the previous step are supported",
                                           program.tensor(read.id).name, why));
  };
  const auto [dimension, offset] = steps_of(equation);
  const auto here = linear_form(interner, place[along]), there = linear_form(interner, read.args[dimension]);
  if (!here || !there) return other("is read at a step that is not a sum");
  const ir::Affine gap = add(*here, scale(*there, -1));
  const int64_t before = (gap.offset + offset) * (reverse ? -1 : 1);
  if (!gap.terms.empty() || before > 1) return other("is read further back");
  if (before == 0 || read.id != tensor) return false;
  for (size_t d = 0; d < place.size(); ++d) {
    if (d != along && read.args[d] != place[d]) return other("reads other elements of its previous step");
  }
  return true;
}

}  // namespace solstice::codegen
