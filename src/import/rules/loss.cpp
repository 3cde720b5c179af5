// Elementwise losses.
#include "import/rules/loss.h"

#include <numbers>

#include "import/rules.h"

namespace solstice::importer {

std::vector<Loop> all_digits(const Axes& axes) {
  std::vector<Loop> out;
  for (const Axis& axis : axes) out.insert(out.end(), axis.digits.begin(), axis.digits.end());
  return out;
}

TermRef squared(const TermRef& x) { return binary("**", x, integer(2)); }
TermRef absolute(const TermRef& x) { return apply("abs", {x}); }

Status yield_loss(Call& call, const Axes& axes, const TermRef& each) {
  SOLSTICE_TRY(const int64_t reduction, call.integer("reduction"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (reduction == 0) return call.yield(call.draft().define(call.wish("loss"), axes, each, dtype));
  const TermRef total = reduce(reduction == 1 ? "mean" : "sum", all_digits(axes), each);
  return call.yield(call.draft().define(call.wish("loss"), {}, total, dtype));
}

namespace {

// An elementwise loss of tensors that broadcast; those that are None are left out.
Status elementwise(Call& call, const std::vector<const char*>& names, const PointFunction& f) {
  Operands operands;
  for (const char* name : names) {
    SOLSTICE_TRY(std::optional<Value> operand, call.maybe_tensor(name));
    if (operand) operands.push_back(std::move(*operand));
  }
  SOLSTICE_TRY(const Broadcast shape, broadcast(call, operands));
  Terms terms;
  for (size_t i = 0; i < operands.size(); ++i) terms.push_back(read_at(operands[i], shape.at[i], call.loops()));
  return yield_loss(call, shape.axes, f(terms));
}

using LossFunction = std::function<TermRef(const TermRef&, const TermRef&)>;

Status elementwise(Call& call, const LossFunction& f) {
  return elementwise(call, {"self", "target"}, [&](const Terms& t) { return f(t[0], t[1]); });
}

Status mse(Call& call) {
  return elementwise(call, [](const TermRef& x, const TermRef& t) { return squared(x - t); });
}

Status l1(Call& call) {
  return elementwise(call, [](const TermRef& x, const TermRef& t) { return absolute(x - t); });
}

// |u| < beta ? u*u/2/beta : |u| - beta/2
Status smooth_l1(Call& call) {
  SOLSTICE_TRY(const double beta, call.number("beta"));
  if (beta == 0) return l1(call);
  return elementwise(call, [&](const TermRef& x, const TermRef& t) {
    const TermRef u = absolute(x - t);
    return select(binary("<", u, real(beta)), real(0.5) * squared(x - t) / real(beta), u - real(beta / 2));
  });
}

// |u| <= delta ? u*u/2 : delta*(|u| - delta/2)
Status huber(Call& call) {
  SOLSTICE_TRY(const double delta, call.number("delta"));
  return elementwise(call, [&](const TermRef& x, const TermRef& t) {
    const TermRef u = absolute(x - t);
    return select(binary("<=", u, real(delta)), real(0.5) * squared(x - t), real(delta) * (u - real(delta / 2)));
  });
}

// t*(log t - x), 0 where t is 0; with log_target e**t*(t - x)
Status kl_div(Call& call) {
  SOLSTICE_TRY(const bool log_target, call.flag("log_target"));
  return elementwise(call, [&](const TermRef& x, const TermRef& t) {
    if (log_target) return apply("exp", {t}) * (t - x);
    return select(binary("==", t, integer(0)), integer(0), t * apply("log", {t})) - t * x;
  });
}

// Logarithms are cut off at -100.
Status binary_cross_entropy(Call& call) {
  return elementwise(call, {"self", "target", "weight"}, [](const Terms& v) {
    const auto log = [](const TermRef& p) { return apply("max", {apply("log", {p}), integer(-100)}); };
    const TermRef loss = negate(v[1] * log(v[0]) + (integer(1) - v[1]) * log(integer(1) - v[0]));
    return v.size() > 2 ? loss * v[2] : loss;
  });
}

// (1-t)*x + log_weight*(max(-x,0) + log1p(e**-|x|)), log_weight = (pos_weight-1)*t + 1
Status binary_cross_entropy_with_logits(Call& call) {
  const bool weighted = !call.is_none("weight"), positive = !call.is_none("pos_weight");
  return elementwise(call, {"self", "target", "weight", "pos_weight"}, [&](const Terms& v) {
    const TermRef &x = v[0], &t = v[1];
    const TermRef soft = apply("log1p", {apply("exp", {negate(absolute(x))})});
    TermRef loss = apply("max", {x, integer(0)}) - x * t + soft;
    if (positive) {
      const TermRef factor = (v.back() - integer(1)) * t + integer(1);
      loss = (integer(1) - t) * x + factor * (apply("max", {negate(x), integer(0)}) + soft);
    }
    return weighted ? loss * v[2] : loss;
  });
}

// e**x - t*x, or x - t*log(x + eps); `full` adds Stirling's t*log(t) - t + log(2*pi*t)/2 where t > 1.
Status poisson_nll(Call& call) {
  SOLSTICE_TRY(const bool log_input, call.flag("log_input"));
  SOLSTICE_TRY(const bool full, call.flag("full"));
  SOLSTICE_TRY(const double eps, call.number("eps"));
  return elementwise(call, {"input", "target"}, [&](const Terms& v) {
    const TermRef &x = v[0], &t = v[1];
    const TermRef loss = log_input ? apply("exp", {x}) - t * x : x - t * apply("log", {x + real(eps)});
    if (!full) return loss;
    const TermRef log_factorial =
        t * apply("log", {t}) - t + real(0.5) * apply("log", {real(2 * std::numbers::pi) * t});
    return loss + select(binary("<=", t, integer(1)), integer(0), log_factorial);
  });
}

Status soft_margin(Call& call) {
  return elementwise(
      call, [](const TermRef& x, const TermRef& t) { return apply("log1p", {apply("exp", {negate(x * t)})}); });
}

// max(0, margin - t*(a - b))
Status margin_ranking(Call& call) {
  SOLSTICE_TRY(const double margin, call.number("margin"));
  return elementwise(call, {"input1", "input2", "target"}, [&](const Terms& v) {
    return apply("max", {integer(0), real(margin) - v[2] * (v[0] - v[1])});
  });
}

// target 1: x; else max(0, margin - x)
Status hinge_embedding(Call& call) {
  SOLSTICE_TRY(const double margin, call.number("margin"));
  return elementwise(call, [&](const TermRef& x, const TermRef& t) {
    const TermRef apart = apply("max", {integer(0), real(margin) - x});
    return select(binary("==", t, integer(1)), x, apart);
  });
}

}  // namespace

const RuleGroup kLossRules = {
    "loss",
    {
        {"aten.mse_loss.default", mse},
        {"aten.l1_loss.default", l1},
        {"aten.smooth_l1_loss.default", smooth_l1},
        {"aten.huber_loss.default", huber},
        {"aten.kl_div.default", kl_div},
        {"aten.binary_cross_entropy.default", binary_cross_entropy},
        {"aten.binary_cross_entropy_with_logits.default", binary_cross_entropy_with_logits},
        {"aten.hinge_embedding_loss.default", hinge_embedding},
        {"aten.poisson_nll_loss.default", poisson_nll},
        {"aten.soft_margin_loss.default", soft_margin},
        {"aten.margin_ranking_loss.default", margin_ranking},
    },
};

}  // namespace solstice::importer
