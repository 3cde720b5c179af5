// Scalings, shifts and clamps by literals, in a row: one multiplication, one addition, one clamp.
//
//   clamp(2 * clamp(x + 1, 0, 1), 0, 1) / 2  =  clamp(x + 1, 0, 0.5)
//
// Proof. A chain of x -> c*x, x + c, min(x, c), max(x, c), -x with finite literals, c != 0 in products, is
// x -> clamp(a*x + b, low, high) with a != 0 and low <= high: each step maps that form to itself (a negative factor swaps
// low and high; min and max cut both limits). A sum of two unclamped chains of the same x adds their a and b, unless the
// a cancel. NaN stays NaN: a*x + b and clamp pass it on. Infinities: a != 0, so they end at the same limit. The literals
// are combined in double, whose rounding (1e-16) is below what float64 itself would round. What the source wrote with
// dims is no literal here, so that the result keeps its meaning at other dims.
//
// Within an equation nothing is folded below a comparison, floor, cast, ranking or integer result: there the last bit of an
// operand may decide. A tensor that another equation compares is folded as any: over the reals its value is the same, and
// where PyTorch rounds a value before it decides, the importer writes the cast, which nothing crosses.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/equal.h"
#include "ir/rewrite/edit.h"
#include "ir/rewrite/rewrite.h"

namespace solstice::ir {
namespace {

struct ScalarChain {
  double factor = 1, shift = 0;
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  ExprRef base;
  int steps = 0;

  bool clamped() const { return std::isfinite(low) || std::isfinite(high); }
  int cost() const { return (factor != 1) + (shift != 0) + std::isfinite(low) + std::isfinite(high); }

  ScalarChain scaled(double c) const {
    ScalarChain out = *this;
    out.factor *= c, out.shift *= c, out.low *= c, out.high *= c;
    if (c < 0) std::swap(out.low, out.high);
    ++out.steps;
    return out;
  }
  ScalarChain moved(double c) const {
    ScalarChain out = *this;
    out.shift += c, out.low += c, out.high += c;
    ++out.steps;
    return out;
  }
  ScalarChain cut(double c, bool below) const {
    ScalarChain out = *this;
    out.low = below ? std::max(low, c) : std::min(low, c);
    out.high = below ? std::max(high, c) : std::min(high, c);
    ++out.steps;
    return out;
  }
};

class ChainReader {
 public:
  ChainReader(Equation& equation, const Definitions& definitions) : equation_(equation), definitions_(definitions) {}

  ScalarChain read(const ExprRef& e) {
    if (e->op == Op::kNeg) return read(e->args[0]).scaled(-1);
    if (e->op == Op::kRead) return through(e);
    if (e->args.size() != 2) return base(e);
    if (const auto right = literal(e->args[1])) return by_literal(e, *right);
    if (const auto left = literal(e->args[0])) return of_literal(e, *left);
    return e->op == Op::kAdd || e->op == Op::kSub ? added(e) : base(e);
  }

 private:
  // An integer with a place in the source is made of dims.
  static std::optional<double> literal(const ExprRef& e) {
    if (e->op == Op::kInt && e->id < 0 && e->span.end == 0) return static_cast<double>(e->integer);
    if (e->op == Op::kReal && std::isfinite(e->real)) return e->real;
    if (e->op != Op::kNeg) return std::nullopt;
    const auto value = literal(e->args[0]);
    return value ? std::optional(-*value) : std::nullopt;
  }

  static ScalarChain base(const ExprRef& e) {
    ScalarChain out;
    out.base = e;
    return out;
  }

  // x op c
  ScalarChain by_literal(const ExprRef& e, double c) {
    switch (e->op) {
      case Op::kAdd:
        return read(e->args[0]).moved(c);
      case Op::kSub:
        return read(e->args[0]).moved(-c);
      case Op::kMul:
        return c == 0 ? base(e) : read(e->args[0]).scaled(c);
      case Op::kDiv:
        return c == 0 ? base(e) : divided(e, c);
      case Op::kMin:
      case Op::kMax:
        return read(e->args[0]).cut(c, e->op == Op::kMax);
      default:
        return base(e);
    }
  }

  ScalarChain divided(const ExprRef& e, double c) {
    ScalarChain out = read(e->args[0]);
    const int steps = out.steps + 1;
    out.factor /= c, out.shift /= c, out.low /= c, out.high /= c;
    if (c < 0) std::swap(out.low, out.high);
    out.steps = steps;
    return out;
  }

  // c op x
  ScalarChain of_literal(const ExprRef& e, double c) {
    switch (e->op) {
      case Op::kAdd:
        return read(e->args[1]).moved(c);
      case Op::kSub: {
        ScalarChain out = read(e->args[1]).scaled(-1).moved(c);
        --out.steps;
        return out;
      }
      case Op::kMul:
        return c == 0 ? base(e) : read(e->args[1]).scaled(c);
      case Op::kMin:
      case Op::kMax:
        return read(e->args[1]).cut(c, e->op == Op::kMax);
      default:
        return base(e);
    }
  }

  ScalarChain added(const ExprRef& e) {
    const ScalarChain a = read(e->args[0]);
    ScalarChain b = read(e->args[1]);
    if (e->op == Op::kSub) b = b.scaled(-1), --b.steps;
    const bool alike = !a.clamped() && !b.clamped() && same(a.base, b.base) && a.factor + b.factor != 0;
    if (!alike) return base(e);
    ScalarChain out = a;
    out.factor += b.factor;
    out.shift += b.shift;
    out.steps += b.steps + 1;
    return out;
  }

  ScalarChain through(const ExprRef& e) {
    const Equation* definition = e->has_else ? nullptr : definitions_.of(e->id);
    if (!definition) return base(e);
    const ExprRef inner = instance(equation_, *definition, *e);
    const ScalarChain out = read(inner);
    return out.steps > 0 && out.base->kind == ValueKind::kReal && is_cheap(out.base) ? out : base(e);
  }

  // A chain's operand that may be read here instead of the chain's result: no more work than a read.
  static bool is_cheap(const ExprRef& e) { return e->op == Op::kRead; }

  Equation& equation_;
  const Definitions& definitions_;
};

ExprRef number_of(double value) {
  const bool whole = std::nearbyint(value) == value && std::abs(value) < 1e15;
  return whole ? make_int(static_cast<int64_t>(value)) : make_real(value);
}

ExprRef to_expr(const ScalarChain& chain) {
  ExprRef out = chain.base;
  if (chain.factor == -1) {
    out = make(Op::kNeg, {out});
  } else if (chain.factor != 1) {
    out = make(Op::kMul, {out, number_of(chain.factor)});
  }
  if (chain.shift != 0) {
    out = chain.shift < 0 ? make(Op::kSub, {out, number_of(-chain.shift)}) : make(Op::kAdd, {out, number_of(chain.shift)});
  }
  if (std::isfinite(chain.low)) out = make(Op::kMax, {out, number_of(chain.low)});
  if (std::isfinite(chain.high)) out = make(Op::kMin, {out, number_of(chain.high)});
  return out;
}

bool is_finite(const ScalarChain& c) {
  return std::isfinite(c.factor) && std::isfinite(c.shift) && std::abs(c.factor) > 1e-30 && !std::isnan(c.low) && !std::isnan(c.high);
}

// Where the last bit of an operand may decide a result.
bool is_discontinuous(const Expr& e) {
  const bool compares = e.op >= Op::kLt && e.op <= Op::kGt;
  return compares || (e.op >= Op::kSign && e.op <= Op::kTrunc) || e.op == Op::kCast || e.op == Op::kRank || e.op == Op::kFloorDiv ||
         e.op == Op::kMod || (e.op == Op::kReduce && e.kind != ValueKind::kReal);
}

// Folds the first chain from the top that gets shorter.
ExprRef folded_in(ChainReader& reader, const ExprRef& e) {
  if (is_discontinuous(*e)) return nullptr;
  if (e->kind == ValueKind::kReal && e->op != Op::kRead && !has_infinity(e)) {
    const ScalarChain chain = reader.read(e);
    const bool shorter = chain.steps > chain.cost() && chain.base->kind == ValueKind::kReal && is_finite(chain);
    if (shorter) return to_expr(chain);
  }
  for (size_t i = 0; i < e->args.size(); ++i) {
    const bool index = e->op == Op::kRead && !(e->has_else && i + 1 == e->args.size());
    if (index) continue;
    const ExprRef other = folded_in(reader, e->args[i]);
    if (!other) continue;
    auto copy = std::make_shared<Expr>(*e);
    copy->args[i] = other;
    return copy;
  }
  return nullptr;
}

std::optional<Rewritten> folded_scalars(const Subject& subject, int id) {
  const Program& program = subject.program();
  if (program.equation(id).group >= 0) return std::nullopt;
  Equation equation = program.equation(id);
  ChainReader reader(equation, subject.definitions());
  const ExprRef rhs = folded_in(reader, equation.rhs);
  if (!rhs) return std::nullopt;
  equation.rhs = rhs;
  Rewritten out{program, fmt::format("scalings, shifts and clamps in `{}` become one of each at most", program.target_of(equation).name)};
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
