#include "host_kernels/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace solstice::testing {
namespace {

using ir::Op;
using ir::Reducer;

class Evaluator {
 public:
  Evaluator(const ir::Program& program, const ir::Equation& equation, Tensors& values)
      : program_(program), equation_(equation), values_(values), at_(equation.indices.size(), 0) {}

  void run() {
    std::vector<double>& target = values_[equation_.target];
    target.resize(static_cast<size_t>(program_.target_of(equation_).elements()), std::nan(""));
    over(equation_.free, 0, [&] { target[offset(equation_.target, equation_.lhs)] = value(*equation_.rhs); });
  }

 private:
  template <typename F>
  void over(const std::vector<int>& ids, size_t k, F&& visit) {
    if (k == ids.size()) return visit();
    const auto id = static_cast<size_t>(ids[k]);
    const int64_t saved = at_[id];
    for (at_[id] = 0; at_[id] < equation_.indices[id].extent; ++at_[id]) over(ids, k + 1, visit);
    at_[id] = saved;
  }

  // Dense row-major position, whatever the tensor's strides.
  size_t offset(int tensor, const std::vector<ir::ExprRef>& args, bool* inside = nullptr) {
    const ir::Tensor& t = program_.tensor(tensor);
    int64_t out = 0;
    for (size_t d = 0; d < t.shape.size(); ++d) {
      const auto i = static_cast<int64_t>(value(*args[d]));
      if (inside && (i < 0 || i >= t.shape[d])) *inside = false;
      out = out * t.shape[d] + i;
    }
    return static_cast<size_t>(out);
  }

  double read(const ir::Expr& e) {
    bool inside = true;
    const size_t at = offset(e.id, e.args, &inside);
    if (!inside) return e.has_else ? value(*e.args.back()) : std::nan("");
    return values_.at(e.id)[at];
  }

  // The last value of a reduction and the indices it was for: an inner loop over other indices asks again and again.
  struct Last {
    std::vector<size_t> depends;
    std::vector<int64_t> at;
    double value = 0;
  };

  std::vector<size_t> free_in(const ir::Expr& e) const {
    std::vector<size_t> out;
    const auto visit = [&](const auto& self, const ir::Expr& node) -> void {
      if (node.op == Op::kIndex && std::find(e.binders.begin(), e.binders.end(), node.id) == e.binders.end()) {
        out.push_back(static_cast<size_t>(node.id));
      }
      for (const ir::ExprRef& arg : node.args) self(self, *arg);
    };
    visit(visit, e);
    return out;
  }

  double reduce(const ir::Expr& e) {
    auto [found, fresh] = last_.try_emplace(&e);
    Last& last = found->second;
    if (fresh) last.depends = free_in(e);
    std::vector<int64_t> now;
    for (const size_t id : last.depends) now.push_back(at_[id]);
    if (!fresh && now == last.at) return last.value;
    last.at = now;
    const double result = reduce_again(e);
    last_[&e].value = result;
    return result;
  }

  double reduce_again(const ir::Expr& e) {
    std::vector<double> terms;
    over(e.binders, 0, [&] {
      if (e.args.size() < 2 || value(*e.args[1]) != 0) terms.push_back(value(*e.args[0]));
    });
    return combine(e.reducer, terms);
  }

  static double extreme(const std::vector<double>& terms, double sign) {
    double out = -std::numeric_limits<double>::infinity();
    for (const double v : terms) out = std::isnan(v) || std::isnan(out) ? std::nan("") : std::max(out, sign * v);
    return sign * out;
  }

  static double combine(Reducer reducer, const std::vector<double>& terms) {
    double sum = 0, product = 1;
    bool any = false, all = true;
    for (const double v : terms) {
      sum += v;
      product *= v;
      any |= v != 0;
      all &= v != 0;
    }
    const auto count = static_cast<double>(terms.size());
    switch (reducer) {
      case Reducer::kSum:
        return sum;
      case Reducer::kProd:
        return product;
      case Reducer::kMax:
        return extreme(terms, 1);
      case Reducer::kMin:
        return extreme(terms, -1);
      case Reducer::kAny:
        return any;
      case Reducer::kAll:
        return all;
      case Reducer::kMean:
        return sum / count;
      case Reducer::kVar: {
        double squares = 0;
        for (const double v : terms) squares += (v - sum / count) * (v - sum / count);
        return squares / count;
      }
      case Reducer::kLogSumExp: {
        const double top = extreme(terms, 1);
        const double shift = std::isfinite(top) ? top : 0;
        double exps = 0;
        for (const double v : terms) exps += std::exp(v - shift);
        return std::log(exps) + shift;
      }
      case Reducer::kArgMax:
      case Reducer::kArgMin: {
        const double sign = reducer == Reducer::kArgMax ? 1 : -1;
        size_t best = 0;
        for (size_t i = 1; i < terms.size() && !std::isnan(terms[best]); ++i) {
          if (std::isnan(terms[i]) || sign * terms[i] > sign * terms[best]) best = i;
        }
        return static_cast<double>(best);
      }
      default:
        return std::nan("");
    }
  }

  double value(const ir::Expr& e) {
    const auto arg = [&](size_t i) { return value(*e.args[i]); };
    switch (e.op) {
      case Op::kReal:
        return e.real;
      case Op::kInt:
      case Op::kBool:
        return static_cast<double>(e.integer);
      case Op::kIndex:
        return static_cast<double>(at_[static_cast<size_t>(e.id)]);
      case Op::kRead:
        return read(e);
      case Op::kReduce:
        return reduce(e);
      case Op::kCast:
        return is_integer(e.dtype) ? std::trunc(arg(0)) : e.dtype == DType::kBF16 ? to_bf16(arg(0)) : arg(0);
      case Op::kSelect:
        return arg(0) != 0 ? arg(1) : arg(2);
      case Op::kNeg:
        return -arg(0);
      case Op::kNot:
        return arg(0) == 0;
      case Op::kAnd:
        return arg(0) != 0 && arg(1) != 0;
      case Op::kOr:
        return arg(0) != 0 || arg(1) != 0;
      case Op::kAdd:
        return arg(0) + arg(1);
      case Op::kSub:
        return arg(0) - arg(1);
      case Op::kMul:
        return arg(0) * arg(1);
      case Op::kDiv:
        return arg(0) / arg(1);
      case Op::kFloorDiv:
        return std::floor(arg(0) / arg(1));
      case Op::kMod:
        return floor_rest(arg(0), arg(1));
      case Op::kFmod:
        return std::fmod(arg(0), arg(1));
      case Op::kRemainder:
        return floor_rest(arg(0), arg(1));
      case Op::kFloorDivide:
        return arg(1) == 0 ? arg(0) / arg(1) : std::nearbyint((arg(0) - floor_rest(arg(0), arg(1))) / arg(1));
      case Op::kPow:
        return std::pow(arg(0), arg(1));
      case Op::kMin:
        return extreme({arg(0), arg(1)}, -1);
      case Op::kMax:
        return extreme({arg(0), arg(1)}, 1);
      case Op::kLt:
        return arg(0) < arg(1);
      case Op::kLe:
        return arg(0) <= arg(1);
      case Op::kEq:
        return arg(0) == arg(1);
      case Op::kNe:
        return arg(0) != arg(1);
      case Op::kGe:
        return arg(0) >= arg(1);
      case Op::kGt:
        return arg(0) > arg(1);
      case Op::kAtan2:
        return std::atan2(arg(0), arg(1));
      case Op::kBitAnd:
        return static_cast<double>(static_cast<int64_t>(arg(0)) & static_cast<int64_t>(arg(1)));
      default:
        return function(e.op, arg(0));
    }
  }

  static double floor_rest(double a, double b) {
    const double rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }

  static double to_bf16(double v) {
    int exponent = 0;
    const double fraction = std::frexp(v, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
  }

  // By halving: what lies within 6 of 0 is all that a double tells from 1.
  static double inverse_erf(double y) {
    if (std::isnan(y) || std::fabs(y) > 1) return std::nan("");
    if (std::fabs(y) == 1) return std::copysign(INFINITY, y);
    double low = -6, high = 6;
    for (int i = 0; i < 100; ++i) {
      const double middle = (low + high) / 2;
      (std::erf(middle) < y ? low : high) = middle;
    }
    return (low + high) / 2;
  }

  static double function(Op o, double x) {
    switch (o) {
      case Op::kExp:
        return std::exp(x);
      case Op::kExpm1:
        return std::expm1(x);
      case Op::kLog:
        return std::log(x);
      case Op::kLog1p:
        return std::log1p(x);
      case Op::kSqrt:
        return std::sqrt(x);
      case Op::kRsqrt:
        return 1 / std::sqrt(x);
      case Op::kTanh:
        return std::tanh(x);
      case Op::kErf:
        return std::erf(x);
      case Op::kErfInv:
        return inverse_erf(x);
      case Op::kLgamma:
        return std::lgamma(x);
      case Op::kSin:
        return std::sin(x);
      case Op::kCos:
        return std::cos(x);
      case Op::kAbs:
        return std::fabs(x);
      case Op::kSign:
        return (x > 0) - (x < 0);
      case Op::kFloor:
        return std::floor(x);
      case Op::kCeil:
        return std::ceil(x);
      case Op::kRound:
        return std::nearbyint(x);
      case Op::kTrunc:
        return std::trunc(x);
      case Op::kIsNan:
        return std::isnan(x);
      case Op::kIsFinite:
        return std::isfinite(x);
      default:
        return std::nan("");
    }
  }

  const ir::Program& program_;
  const ir::Equation& equation_;
  Tensors& values_;
  std::vector<int64_t> at_;
  std::map<const ir::Expr*, Last> last_;
};

}  // namespace

void evaluate(const ir::Program& program, Tensors& values) {
  for (const ir::Equation& equation : program.equations) Evaluator(program, equation, values).run();
}

}  // namespace solstice::testing
