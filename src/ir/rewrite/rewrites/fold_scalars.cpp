// Scalings, shifts and clamps by literals, in a row: one multiplication, one addition, one clamp.
//
//   clamp(2 * clamp(x + 1, 0, 1), 0, 1) / 2  =  clamp(x + 1, 0, 0.5)
//
// Proof. A chain of x -> c*x, x + c, min(x, c), max(x, c), -x with finite literals, c != 0 in products, is
// x -> clamp(a*x + b, low, high) with a != 0 and low <= high: each step maps that form to itself (a negative factor
// swaps low and high; min and max cut both limits). A sum of two unclamped chains of the same x adds their a and b,
// unless the a cancel. NaN stays NaN: a*x + b and clamp pass it on. Infinities: a != 0, so they end at the same limit.
// Numbers that the source wrote with dims are no literals here, so that the result keeps its meaning at other dims.
//
// Literals mean their decimals, and are combined as fractions: 0.1 * 0.7 * 100 is 7. A result that no literal writes
// (5/7) is rounded, and differs by 1e-16: below what float64 itself would round, but enough to decide a `floor`. So
// such chains stay where their tensor reaches something that jumps (a comparison, floor, cast, ranking, integer or
// opaque operation), through however many equations. Within an equation nothing at all is folded below these: where
// PyTorch rounds a value before it decides, the importer writes the cast, which nothing crosses.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/rewrite/edit.h"
#include "ir/rewrite/rewrite.h"
#include "ir/rewrite/scalar_chain.h"

namespace solstice::ir {
namespace {

// Operators at which the last bit of an operand may decide a result.
bool is_discontinuous(const Expr& e) {
  const bool compares = e.op >= Op::kLt && e.op <= Op::kGt;
  return compares || (e.op >= Op::kSign && e.op <= Op::kTrunc) || e.op == Op::kCast || e.op == Op::kRank ||
         e.op == Op::kFloorDiv || e.op == Op::kMod || (e.op >= Op::kFmod && e.op <= Op::kFloorDivide) ||
         (e.op == Op::kReduce && e.kind != ValueKind::kReal);
}

// Does the last bit of one of these tensors decide something below `e`?
bool decides(const ExprRef& e, const std::set<int>& tensors, bool jumps = false) {
  if (e->op == Op::kRead && jumps && tensors.count(e->id)) return true;
  const bool inside = jumps || is_discontinuous(*e);
  return std::any_of(e->args.begin(), e->args.end(), [&](const ExprRef& a) { return decides(a, tensors, inside); });
}

// Does its last bit decide something, through whatever equations?
bool reaches_jump(const Subject& subject, int tensor) {
  std::set<int> tensors{tensor};
  std::vector<int> left{tensor};
  while (!left.empty()) {
    const int t = left.back();
    left.pop_back();
    if (subject.definitions().read_by_opaque(t)) return true;
    for (const int reader : subject.definitions().readers(t)) {
      const Equation& equation = subject.program().equation(reader);
      if (decides(equation.rhs, tensors) || equation.rhs->kind != ValueKind::kReal) return true;
      if (tensors.insert(equation.target).second) left.push_back(equation.target);
    }
  }
  return false;
}

class Folder {
 public:
  Folder(const Subject& subject, Equation& equation) : subject_(subject), equation_(equation) {}

  // Folds the first chain from the top that gets shorter.
  ExprRef folded(const ExprRef& e) {
    if (is_discontinuous(*e)) return nullptr;
    if (e->kind == ValueKind::kReal && e->op != Op::kRead && !has_infinity(e)) {
      const ScalarChain chain = scalar_chain(equation_, subject_.definitions(), e);
      const bool shorter = chain.steps > chain.cost() && chain.base->kind == ValueKind::kReal && chain.is_finite();
      if (shorter && (chain.is_written() || !jumps())) return chain.to_expr();
    }
    for (size_t i = 0; i < e->args.size(); ++i) {
      const bool index = e->op == Op::kRead && !(e->has_else && i + 1 == e->args.size());
      if (index) continue;
      const ExprRef other = folded(e->args[i]);
      if (!other) continue;
      auto copy = std::make_shared<Expr>(*e);
      copy->args[i] = other;
      return copy;
    }
    return nullptr;
  }

 private:
  bool jumps() {
    if (!jumps_) jumps_ = reaches_jump(subject_, equation_.target);
    return *jumps_;
  }

  const Subject& subject_;
  Equation& equation_;
  std::optional<bool> jumps_;
};

std::optional<Rewritten> folded_scalars(const Subject& subject, int id) {
  const Program& program = subject.program();
  if (program.equation(id).group >= 0) return std::nullopt;
  Equation equation = program.equation(id);
  const ExprRef rhs = Folder(subject, equation).folded(equation.rhs);
  if (!rhs) return std::nullopt;
  equation.rhs = rhs;
  Rewritten out{program, fmt::format("scalings, shifts and clamps in `{}` become one of each at most",
                                     program.target_of(equation).name)};
  out.program.equations[static_cast<size_t>(id)] = std::move(equation);
  return out;
}

}  // namespace

extern const Rewrite solstice_rewrites_fold_scalars;
const Rewrite solstice_rewrites_fold_scalars = {
    .name = "fold_scalars",
    .help = "scalings, shifts and clamps by literals, one after another, become one of each",
    .at = folded_scalars,
};

}  // namespace solstice::ir
