// Losses. `reduction` is PyTorch's number: 0 none, 1 mean, 2 sum.
#include "ir/import/rules.h"

namespace solstice::ir::importer {
namespace {

std::vector<Loop> digits_of(const std::vector<Axis>& axes) {
  std::vector<Loop> out;
  for (const Axis& axis : axes) out.insert(out.end(), axis.digits.begin(), axis.digits.end());
  return out;
}

using LossFunction = std::function<TermRef(const TermRef&, const TermRef&)>;

// An elementwise loss of two tensors that broadcast.
Status elementwise(Call& call, const char* a_name, const char* b_name, const LossFunction& f) {
  SOLSTICE_TRY(const Value a, call.tensor(a_name));
  SOLSTICE_TRY(const Value b, call.tensor(b_name));
  SOLSTICE_TRY(const int64_t reduction, call.integer("reduction"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const Broadcast shape, broadcast(call, {a, b}));
  const TermRef loss = f(read_at(a, shape.at[0], call.loops()), read_at(b, shape.at[1], call.loops()));
  if (reduction == 0) return call.yield(call.draft().define(call.wish("loss"), shape.axes, loss, dtype));
  const TermRef total = reduce(reduction == 1 ? "mean" : "sum", digits_of(shape.axes), loss);
  return call.yield(call.draft().define(call.wish("loss"), {}, total, dtype));
}

TermRef squared(const TermRef& x) { return binary("**", x, integer(2)); }
TermRef absolute(const TermRef& x) { return apply("abs", {x}); }

Status mse(Call& call) {
  return elementwise(call, "self", "target", [](const TermRef& x, const TermRef& t) { return squared(x - t); });
}

Status l1(Call& call) {
  return elementwise(call, "self", "target", [](const TermRef& x, const TermRef& t) { return absolute(x - t); });
}

// |u| < beta ? u*u/2/beta : |u| - beta/2
Status smooth_l1(Call& call) {
  SOLSTICE_TRY(const double beta, call.number("beta"));
  if (beta == 0) return l1(call);
  return elementwise(call, "self", "target", [&](const TermRef& x, const TermRef& t) {
    const TermRef u = absolute(x - t);
    return select(binary("<", u, real(beta)), real(0.5) * squared(x - t) / real(beta), u - real(beta / 2));
  });
}

// |u| <= delta ? u*u/2 : delta*(|u| - delta/2)
Status huber(Call& call) {
  SOLSTICE_TRY(const double delta, call.number("delta"));
  return elementwise(call, "self", "target", [&](const TermRef& x, const TermRef& t) {
    const TermRef u = absolute(x - t);
    return select(binary("<=", u, real(delta)), real(0.5) * squared(x - t), real(delta) * (u - real(delta / 2)));
  });
}

// t*(log t - x), 0 where t is 0; with log_target e**t*(t - x)
Status kl_div(Call& call) {
  SOLSTICE_TRY(const bool log_target, call.flag("log_target"));
  return elementwise(call, "self", "target", [&](const TermRef& x, const TermRef& t) {
    if (log_target) return apply("exp", {t}) * (t - x);
    return select(binary("==", t, integer(0)), integer(0), t * apply("log", {t})) - t * x;
  });
}

// Logarithms are cut off at -100.
Status binary_cross_entropy(Call& call) {
  if (!call.is_none("weight")) return call.unsupported("a weighted binary cross entropy");
  return elementwise(call, "self", "target", [](const TermRef& x, const TermRef& t) {
    const auto log = [](const TermRef& p) { return apply("max", {apply("log", {p}), integer(-100)}); };
    return negate(t * log(x) + (integer(1) - t) * log(integer(1) - x));
  });
}

Status binary_cross_entropy_with_logits(Call& call) {
  if (!call.is_none("weight") || !call.is_none("pos_weight")) return call.unsupported("weights");
  return elementwise(call, "self", "target", [](const TermRef& x, const TermRef& t) {
    const TermRef soft = apply("log1p", {apply("exp", {negate(absolute(x))})});
    return apply("max", {x, integer(0)}) - x * t + soft;
  });
}

// target 1: x; else max(0, margin - x)
Status hinge_embedding(Call& call) {
  SOLSTICE_TRY(const double margin, call.number("margin"));
  return elementwise(call, "self", "target", [&](const TermRef& x, const TermRef& t) {
    const TermRef apart = apply("max", {integer(0), real(margin) - x});
    return select(binary("==", t, integer(1)), x, apart);
  });
}

// Class targets: x is [N, C, ..] (or [C]), the target [N, ..]; row loops and reads of one loss.
struct Classes {
  std::vector<Axis> rows;  // axes of the target
  Axis classes;
  std::vector<Index> row_at;
  TermRef target;

  std::vector<Index> at(const Index& c, bool has_rows) const {
    std::vector<Index> out = row_at;
    out.insert(out.begin() + (has_rows ? 1 : 0), c);
    return out;
  }
};

Classes class_loops(Call& call, const Value& x, const Value& target) {
  Classes out;
  const int channel = x.rank() == 1 ? 0 : 1;
  for (int i = 0; i < target.rank(); ++i) {
    const Axis& axis = x.axis(i < channel ? i : i + 1);
    out.rows.push_back(call.loops().align({&target.axis(i), &axis}));
  }
  out.classes = call.loops().align(x.axis(channel));
  out.row_at = flat_all(out.rows, call.loops());
  out.target = read_at(target, out.row_at, call.loops());
  return out;
}

// -log p[target] of one row, shifted by its maximum as PyTorch's log softmax is: NaN where the row holds +inf.
TermRef negative_log(Call& call, const Value& x, const Classes& r, bool has_rows, DType dtype) {
  const auto element = [&](const Index& c) { return read_at(x, r.at(c, has_rows), call.loops()); };
  const TermRef classes = element(call.loops().flat(r.classes));
  const Value top = call.draft().define("mx", r.rows, reduce("max", r.classes.digits, classes), dtype);
  const Index own = index_of_read(r.target, x.extent(has_rows ? 1 : 0));
  const TermRef sum = reduce("sum", r.classes.digits, apply("exp", {classes - top.term}));
  // A target that is ignored (-100) is no class; what it reads is not used.
  const Value padded = call.draft().paddable(x, {has_rows ? 1 : 0});
  const TermRef chosen = call.draft().read_padded(padded, r.at(own, has_rows), integer(0));
  return apply("log", {sum}) - (chosen - top.term);
}

// sum over rows with target != ignore of -log p[target], mean over those rows' weights.
Status cross_entropy(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const Value target, call.tensor("target"));
  SOLSTICE_TRY(const int64_t reduction, call.integer("reduction"));
  SOLSTICE_TRY(const int64_t ignored, call.integer("ignore_index"));
  SOLSTICE_TRY(const double smoothing, call.number("label_smoothing"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (is_float(target.dtype)) return call.unsupported("probabilities as targets");
  if (!call.is_none("weight")) return call.unsupported("class weights");
  if (smoothing != 0) return call.unsupported("label smoothing");
  const Classes r = class_loops(call, x, target);
  const bool has_rows = x.rank() > 1;
  const TermRef loss = negative_log(call, x, r, has_rows, dtype);
  const TermRef counts = binary("!=", r.target, integer(ignored));
  if (reduction == 0) {
    return call.yield(call.draft().define(call.wish("loss"), r.rows, select(counts, loss, integer(0)), dtype));
  }
  const std::vector<Loop> rows = digits_of(r.rows);
  if (rows.empty()) return call.unsupported("a single row");
  const Value each = call.draft().define("nl", r.rows, loss, dtype);
  const TermRef total = reduce("sum", rows, each.term, counts);
  if (reduction == 2) return call.yield(call.draft().define(call.wish("loss"), {}, total, dtype));
  // The second sum has binders of its own.
  const Classes again = class_loops(call, x, target);
  const TermRef count = reduce("sum", digits_of(again.rows), integer(1), binary("!=", again.target, integer(ignored)));
  return call.yield(call.draft().define(call.wish("loss"), {}, total / count, dtype));
}

// Cosine of the angle between rows: squared norms are clamped at eps**2.
Status cosine_similarity(Call& call) {
  SOLSTICE_TRY(const Value a, call.tensor("x1"));
  SOLSTICE_TRY(const Value b, call.tensor("x2"));
  SOLSTICE_TRY(const double eps, call.number("eps"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const Broadcast shape, broadcast(call, {a, b}));
  SOLSTICE_TRY(const int axis, call.axis("dim", static_cast<int>(shape.axes.size())));
  const std::vector<Loop> row = shape.axes[static_cast<size_t>(axis)].digits;
  std::vector<Axis> kept = shape.axes;
  kept.erase(kept.begin() + axis);
  const TermRef x = read_at(a, shape.at[0], call.loops());
  const TermRef y = read_at(b, shape.at[1], call.loops());
  const Value dot = call.draft().define("dot", kept, reduce("sum", row, x * y), dtype);
  const Value xx = call.draft().define("xx", kept, reduce("sum", row, squared(x)), dtype);
  const Value yy = call.draft().define("yy", kept, reduce("sum", row, squared(y)), dtype);
  const auto clamped = [&](const Value& v) { return apply("max", {v.term, real(eps * eps)}); };
  const TermRef cosine = dot.term * apply("rsqrt", {clamped(xx)}) * apply("rsqrt", {clamped(yy)});
  return call.yield(call.draft().define(call.wish("cosine"), kept, cosine, dtype));
}

// max(0, margin + |a-p+eps| - |a-n+eps|), eps added to the difference of each element.
Status triplet_margin(Call& call) {
  SOLSTICE_TRY(const Value a, call.tensor("anchor"));
  SOLSTICE_TRY(const Value p, call.tensor("positive"));
  SOLSTICE_TRY(const Value n, call.tensor("negative"));
  SOLSTICE_TRY(const double margin, call.number("margin"));
  SOLSTICE_TRY(const double norm, call.number("p"));
  SOLSTICE_TRY(const double eps, call.number("eps"));
  SOLSTICE_TRY(const bool swap, call.flag("swap"));
  SOLSTICE_TRY(const int64_t reduction, call.integer("reduction"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (norm != 2 || swap) return call.unsupported("other norms, or swapped distances");
  SOLSTICE_TRY(const Broadcast shape, broadcast(call, {a, p, n}));
  const auto at = [&](const Value& v, size_t i) { return read_at(v, shape.at[i], call.loops()); };
  std::vector<Axis> kept = shape.axes;
  kept.pop_back();
  const std::vector<Loop> row = shape.axes.back().digits;
  const auto distance = [&](const char* wish, const TermRef& other) {
    const TermRef sum = reduce("sum", row, squared(at(a, 0) - other + real(eps)));
    return call.draft().define(wish, kept, apply("sqrt", {sum}), dtype);
  };
  const Value near = distance("dp", at(p, 1));
  const Value far = distance("dn", at(n, 2));
  const TermRef loss = apply("max", {integer(0), real(margin) + near.term - far.term});
  if (reduction == 0) return call.yield(call.draft().define(call.wish("loss"), kept, loss, dtype));
  const TermRef total = reduce(reduction == 1 ? "mean" : "sum", digits_of(kept), loss);
  return call.yield(call.draft().define(call.wish("loss"), {}, total, dtype));
}

}  // namespace

const RuleGroup kLossRules = {
    "loss",
    {
        {"aten.cross_entropy_loss.default", cross_entropy},
        {"aten.mse_loss.default", mse},
        {"aten.l1_loss.default", l1},
        {"aten.smooth_l1_loss.default", smooth_l1},
        {"aten.huber_loss.default", huber},
        {"aten.kl_div.default", kl_div},
        {"aten.binary_cross_entropy.default", binary_cross_entropy},
        {"aten.binary_cross_entropy_with_logits.default", binary_cross_entropy_with_logits},
        {"aten.hinge_embedding_loss.default", hinge_embedding},
        {"aten.cosine_similarity.default", cosine_similarity},
        {"aten.triplet_margin_loss.default", triplet_margin},
    },
};

}  // namespace solstice::ir::importer
