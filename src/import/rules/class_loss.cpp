// Losses whose targets name classes: x is [N, C, ..] or [C], the target [N, ..] (class numbers, ignore_index counts
// for nothing) or of x's shape (probabilities).
#include "import/rules.h"
#include "import/rules/loss.h"

namespace solstice::importer {
namespace {

// Rows of a class axis, and reads of one row.
struct Classes {
  Value x;
  int axis = 0;  // of the classes
  Axes rows;
  Axis classes;

  Indices at(Call& call, const Index& c) const {
    Indices out = flat_all(rows, call.loops());
    out.insert_at(axis, c);
    return out;
  }
  TermRef element(Call& call, const Index& c) const { return read_at(x, at(call, c), call.loops()); }
};

// `target` has the axes of the rows, or all of x.
Classes class_loops(Call& call, const Value& x, const Value& target) {
  Classes out;
  out.x = x;
  out.axis = x.rank() == 1 ? 0 : 1;
  const int skipped = target.rank() == x.rank() ? 1 : 0;
  for (int i = 0; i < x.rank(); ++i) {
    if (i == out.axis) continue;
    const int own = i < out.axis ? i : i - 1 + skipped;
    out.rows.push_back(call.loops().align({&target.axis(own), &x.axis(i)}));
  }
  out.classes = call.loops().align(x.axis(out.axis));
  return out;
}

// ls[n,c]: the logarithm of the softmax, shifted by the row's maximum as PyTorch's is: NaN where the row holds +inf.
struct LogSoftmax {
  Value top;      // of each row
  TermRef total;  // log(sum[c](exp(x - top)))
};

LogSoftmax log_softmax_of(Call& call, const Classes& r, DType dtype) {
  LogSoftmax out;
  const TermRef element = r.element(call, call.loops().flat(r.classes));
  out.top = call.draft().define("mx", r.rows, reduce("max", r.classes.digits, element), dtype);
  out.total = apply("log", {reduce("sum", r.classes.digits, apply("exp", {element - out.top.term}))});
  return out;
}

// Elements that the class numbers select.
struct Targets {
  Value target;
  std::optional<Value> weight;
  int64_t ignored = -100;

  TermRef of_row(Call& call, const Classes& r) const {
    return read_at(target, flat_all(r.rows, call.loops()), call.loops());
  }
  TermRef counts(Call& call, const Classes& r) const { return binary("!=", of_row(call, r), integer(ignored)); }
  // The class's weight. A target that is ignored (-100) is no class; what it reads is not used.
  TermRef weight_of(Call& call, const Classes& r) const {
    if (!weight) return integer(1);
    const Index own = index_of_read(of_row(call, r), r.x.extent(r.axis));
    const Value padded = call.draft().paddable(*weight, {0});
    return call.draft().read_padded(padded, {own}, integer(0));
  }
  TermRef chosen(Call& call, const Classes& r) const {
    const Index own = index_of_read(of_row(call, r), r.x.extent(r.axis));
    const Value padded = call.draft().paddable(r.x, {r.axis});
    return call.draft().read_padded(padded, r.at(call, own), integer(0));
  }
};

// The loss `each` of every row that counts; mean divides by the weights of those rows.
Status yield_rows(Call& call, const Classes& r, const Targets& targets, const TermRef& each) {
  SOLSTICE_TRY(const int64_t reduction, call.integer("reduction"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  const TermRef counts = targets.counts(call, r);
  if (reduction == 0) {
    return call.yield(call.draft().define(call.wish("loss"), r.rows, select(counts, each, integer(0)), dtype));
  }
  const Value stored = call.draft().define("nl", r.rows, each, dtype);
  const TermRef total = reduce("sum", all_digits(r.rows), stored.term, counts);
  if (reduction == 2) return call.yield(call.draft().define(call.wish("loss"), {}, total, dtype));
  // The second sum has binders of its own.
  const Classes again = class_loops(call, r.x, targets.target);
  const TermRef count =
      reduce("sum", all_digits(again.rows), targets.weight_of(call, again), targets.counts(call, again));
  return call.yield(call.draft().define(call.wish("loss"), {}, total / count, dtype));
}

Result<Targets> read_targets(Call& call) {
  Targets out;
  SOLSTICE_TRY(out.target, call.tensor("target"));
  SOLSTICE_TRY(out.weight, call.maybe_tensor("weight"));
  SOLSTICE_TRY(out.ignored, call.integer("ignore_index"));
  return out;
}

TermRef times(const TermRef& factor, const TermRef& x) { return factor->text == "1" ? x : factor * x; }

// sum over rows with target != ignore of -w[target]*x[target], mean over those rows' weights.
Status nll(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const Targets targets, read_targets(call));
  const Classes r = class_loops(call, x, targets.target);
  return yield_rows(call, r, targets, negate(times(targets.weight_of(call, r), targets.chosen(call, r))));
}

// -sum[c](factor(c) * ls[n,c]), ls the log softmax.
TermRef row_sum(Call& call, const Classes& r, const LogSoftmax& ls,
                const std::function<TermRef(const Index&)>& factor) {
  const Axis c = call.loops().align(r.classes);
  const Index at = call.loops().flat(c);
  const TermRef log_p = r.element(call, at) - ls.top.term - ls.total;
  return negate(reduce("sum", c.digits, times(factor(at), log_p)));
}

// (1-eps)*w[t]*(-ls[n,t]) + eps/C*sum[c](w[c]*(-ls[n,c]))
Status cross_entropy_of_classes(Call& call, const Value& x, const Targets& targets, double smoothing) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  const Classes r = class_loops(call, x, targets.target);
  LogSoftmax ls = log_softmax_of(call, r, dtype);
  if (smoothing != 0) ls.total = call.draft().define("ls", r.rows, ls.total, dtype).term;
  const TermRef own = times(targets.weight_of(call, r), ls.total - (targets.chosen(call, r) - ls.top.term));
  if (smoothing == 0) return yield_rows(call, r, targets, own);
  const TermRef all = row_sum(call, r, ls, [&](const Index& c) {
    return targets.weight ? read_at(*targets.weight, {c}, call.loops()) : integer(1);
  });
  const TermRef share = real(smoothing) / size_value(call.loops().size(x.axis(r.axis)));
  return yield_rows(call, r, targets, real(1 - smoothing) * own + share * all);
}

// -sum[c](w[c]*((1-eps)*t[n,c] + eps/C)*ls[n,c]); mean divides by the number of rows.
Status cross_entropy_of_probabilities(Call& call, const Value& x, const Targets& targets, double smoothing) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  const Classes r = class_loops(call, x, targets.target);
  LogSoftmax ls = log_softmax_of(call, r, dtype);
  ls.total = call.draft().define("ls", r.rows, ls.total, dtype).term;
  const TermRef share = real(smoothing) / size_value(call.loops().size(x.axis(r.axis)));
  const TermRef each = row_sum(call, r, ls, [&](const Index& c) {
    TermRef p = read_at(targets.target, r.at(call, c), call.loops());
    if (smoothing != 0) p = real(1 - smoothing) * p + share;
    return targets.weight ? read_at(*targets.weight, {c}, call.loops()) * p : p;
  });
  return yield_loss(call, r.rows, each);
}

Status cross_entropy(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const Targets targets, read_targets(call));
  SOLSTICE_TRY(const double smoothing, call.number("label_smoothing"));
  if (is_float(targets.target.dtype)) return cross_entropy_of_probabilities(call, x, targets, smoothing);
  return cross_entropy_of_classes(call, x, targets, smoothing);
}

// Targets of a row end at the first -1. sum[j,i where j is a target, i is none](max(0, 1 - x[t[j]] + x[i])) / C
Status multilabel_margin(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  SOLSTICE_TRY(const Value target, call.tensor("target"));
  const Classes r = class_loops(call, x, target);
  const Axis j = call.loops().align(r.classes), k = call.loops().align(r.classes), i = call.loops().align(r.classes);
  const auto label = [&](const Axis& c) { return read_at(target, r.at(call, call.loops().flat(c)), call.loops()); };
  Axes axes = r.rows;
  axes.insert_at(r.axis, j);
  const TermRef before = binary("<=", index_value(call.loops().flat(k)), index_value(call.loops().flat(j)));
  const TermRef listed = reduce("all", k.digits, binary(">=", label(k), integer(0)), before);
  const Value valid = call.draft().define("listed", axes, listed, DType::kBool);
  const TermRef same = binary("==", label(k), index_value(call.loops().flat(j)));
  const auto at = [&](const Value& v, const Axis& c) {
    return read_at(v, r.at(call, call.loops().flat(c)), call.loops());
  };
  const Value wanted =
      call.draft().define("wanted", axes, reduce("any", k.digits, binary("and", at(valid, k), same)), DType::kBool);
  const Index own = index_of_read(label(j), x.extent(r.axis));
  const TermRef apart = apply("max", {integer(0), integer(1) - r.element(call, own) + at(x, i)});
  std::vector<Loop> pairs = j.digits;
  pairs.insert(pairs.end(), i.digits.begin(), i.digits.end());
  const TermRef sum = reduce("sum", pairs, apart, binary("and", at(valid, j), importer::logical_not(at(wanted, i))));
  return yield_loss(call, r.rows, sum / size_value(call.loops().size(r.classes)));
}

}  // namespace

const RuleGroup kClassLossRules = {
    "class_loss",
    {
        {"aten.cross_entropy_loss.default", cross_entropy},
        {"aten.nll_loss_nd.default", nll},
        {"aten.nll_loss.default", nll},
        {"aten.nll_loss2d.default", nll},
        {"aten.multilabel_margin_loss.default", multilabel_margin},
    },
};

}  // namespace solstice::importer
