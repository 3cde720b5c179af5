// A term that is added before a normalisation and is the same for all elements of a statistic cancels in it.
//
//   t = conv + b[k];  mu[k] = mean[n,p](t[n,k,p]);  vr[k] = var[n,p](t[n,k,p]);  y = (t - mu) * rsqrt(vr + eps)
//   =  u = conv;  m[k] = mean[n,p](u[n,k,p]);  vr[k] = var[n,p](u[n,k,p]);  y = (u - m) * rsqrt(vr + eps)
//
// Proof. For b that does not depend on the indices reduced over, mean(u + b) = mean(u) + b, the same for max, min and
// logsumexp, and var(u + b) = var(u); every reduction is without `where`, so over at least one point. Elsewhere t is u
// + b and a statistic s is s(u) + b, and equal finite terms of opposite sign cancel. This is done only if every reader
// of t ends without b at the size of t: the statistics' other readers (running means) still get b. A bias that varies
// along a reduced index does not cancel (a group's or row's normalisation behind a bias per channel) and the site is
// refused, as it is where t is an output, stored, or read with `else` (padding pads t, not u).
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/equal.h"
#include "ir/rewrite/edit.h"
#include "ir/rewrite/rewrite.h"
#include "ir/rewrite/terms.h"

namespace solstice::ir {
namespace {

bool shifts_along(Reducer r) {
  return r == Reducer::kMean || r == Reducer::kMax || r == Reducer::kMin || r == Reducer::kLogSumExp;
}

bool same_value(const Subject& subject, const Term& a, const Term& b) {
  const ExprRef x = to_expr(a), y = to_expr(b);
  return same(x, y) && subject.written_alike(x, y);
}

// Removes pairs of equal terms of opposite sign; true if there was one.
bool cancel(const Subject& subject, std::vector<Term>& terms) {
  for (size_t i = 0; i < terms.size(); ++i) {
    for (size_t j = i + 1; j < terms.size(); ++j) {
      if (terms[i].negative == terms[j].negative || !same_value(subject, terms[i], terms[j])) continue;
      terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(j));
      terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
  }
  return false;
}

class BiasCanceller {
 public:
  BiasCanceller(const Subject& subject, int id)
      : subject_(subject), program_(subject.program()), definitions_(subject.definitions()), id_(id) {}

  std::optional<Rewritten> run() {
    const Equation& source = program_.equation(id_);
    const Tensor& tensor = program_.target_of(source);
    const bool inner =
        (tensor.kind == TensorKind::kLocal || tensor.kind == TensorKind::kTensor) && tensor.into < 0 && tensor.same < 0;
    if (!inner || definitions_.of(source.target) != &source || definitions_.read_by_opaque(source.target))
      return std::nullopt;
    if (!has_statistic(source.target)) return std::nullopt;
    Equation scratch = source;
    const auto terms = terms_of(scratch, source.rhs, nullptr);
    if (!terms || terms->size() < 2 || has_infinity(source.rhs)) return std::nullopt;
    for (size_t bias = 0; bias < terms->size(); ++bias) {
      if (auto out = without(*terms, bias)) return out;
    }
    return std::nullopt;
  }

 private:
  // Is the tensor reduced by something in which a bias may cancel?
  bool has_statistic(int tensor) const {
    const auto wanted = [&](const Expr& e) { return shifts_along(e.reducer) || e.reducer == Reducer::kVar; };
    const std::vector<int>& readers = definitions_.readers(tensor);
    return std::any_of(readers.begin(), readers.end(),
                       [&](int e) { return !reductions_in(program_.equation(e).rhs, wanted).empty(); });
  }

  std::optional<Rewritten> without(std::vector<Term> terms, size_t bias) {
    const Equation& source = program_.equation(id_);
    const Term term = terms[bias];
    const ExprRef value = to_expr(term);
    bool reduces = false;
    walk(value, [&](const Expr& e) { reduces = reduces || e.op == Op::kReduce || e.op == Op::kRank; });
    if (reduces || indices_of(value).size() >= source.free.size()) return std::nullopt;
    terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(bias));
    bias_ = source;
    bias_.rhs = term.negative ? make(Op::kNeg, {value}) : value;
    plain_ = source;
    plain_.rhs = sum_of(terms);
    return spread(to_text(program_, source, bias_.rhs));
  }

  // t = u + b in every reader.
  std::optional<Rewritten> spread(const std::string& bias_text) {
    Rewritten out{program_, ""};
    Program& p = out.program;
    const int t = plain_.target;
    u_ = add_tensor(p, program_.tensor(t), program_.tensor(t).name + "_plain");
    plain_.target = u_;
    p.equations[static_cast<size_t>(id_)] = plain_;  // t itself must lose all readers
    statistics_.clear();
    gone_ = false;
    for (int e = id_ + 1; e < static_cast<int>(p.equations.size()); ++e) {
      if (reads(p.equation(e).rhs, t)) statistic(p, e);
    }
    for (int e = id_ + 1; e < static_cast<int>(p.equations.size()); ++e) {
      if (reads(p.equation(e).rhs, t) && !mapped(p, e)) return std::nullopt;
    }
    if (!gone_) return std::nullopt;
    out.description = fmt::format("`{}` cancels in the statistics of `{}`", bias_text, program_.tensor(t).name);
    return out;
  }

  static int add_tensor(Program& p, Tensor like, const std::string& stem) {
    like.name = fresh_name(p, stem);
    p.tensors.push_back(std::move(like));
    return static_cast<int>(p.tensors.size()) - 1;
  }

  // Reads of t become u + b; null where one has an `else`.
  ExprRef spread_reads(Equation& equation, const ExprRef& root) const {
    bool padded = false;
    const ExprRef out = changed(root, [&](const ExprRef& e) -> ExprRef {
      if (e->op != Op::kRead || e->id != bias_.target) return nullptr;
      padded = padded || e->has_else;
      if (e->has_else) return nullptr;
      const ExprRef bias = instance(equation, bias_, *e);
      return make(Op::kAdd, {make_read(u_, ValueKind::kReal, e->args), bias});
    });
    return padded ? nullptr : out;
  }

  // Terms that do not depend on the binders come out of the reductions.
  ExprRef pulled(Equation& equation, const ExprRef& e) {
    if (e->op != Op::kReduce || e->args.size() > 1 || (!shifts_along(e->reducer) && e->reducer != Reducer::kVar))
      return nullptr;
    const IndexSet binders(e->binders.begin(), e->binders.end());
    const auto terms = terms_of(equation, e->args[0], nullptr);
    if (!terms || has_infinity(e->args[0])) return nullptr;
    std::vector<Term> inside, outside;
    for (const Term& term : *terms) (depends(to_expr(term), binders) ? inside : outside).push_back(term);
    if (outside.empty() || inside.empty()) return nullptr;
    const ExprRef rest = make_reduce(e->reducer, e->binders, sum_of(inside));
    if (e->reducer == Reducer::kVar) return rest;
    outside.insert(outside.begin(), Term{false, {rest}, {}});
    return sum_of(outside);
  }

  // An equation that is one statistic of t: the same of u, and for the others that of u plus the bias.
  void statistic(Program& p, int& e) {
    if (p.equation(e).rhs->op != Op::kReduce || p.equation(e).group >= 0) return;
    Equation changed_equation = p.equation(e);
    const ExprRef spread = spread_reads(changed_equation, p.equation(e).rhs);
    const ExprRef out = spread ? pulled(changed_equation, spread) : nullptr;
    if (!out) return;
    const int target = changed_equation.target;
    if (out->op == Op::kReduce) {
      changed_equation.rhs = out;
      p.equations[static_cast<size_t>(e)] = changed_equation;
      gone_ = true;
      return;
    }
    p.equations[static_cast<size_t>(e)] = changed_equation;
    const ExprRef reduction = reductions_in(out, [](const Expr&) { return true; })[0];
    const ExprRef read = hoisted(p, e, reduction, p.tensor(target).name + "_plain");
    p.equations[static_cast<size_t>(e)].rhs = replaced(out, reduction.get(), read);
    statistics_.insert(target);
  }

  // Another reader: the bias must cancel in it.
  bool mapped(Program& p, int e) {
    Equation equation = p.equation(e);
    if (equation.group >= 0) return false;
    const ExprRef spread = spread_reads(equation, equation.rhs);
    if (!spread) return false;
    const Definitions now(p);
    const ExprRef open = changed(spread, [&](const ExprRef& node) -> ExprRef {
      if (node->op == Op::kReduce) return pulled(equation, node);
      if (node->op != Op::kRead || node->has_else || !statistics_.count(node->id)) return nullptr;
      const Equation* definition = now.of(node->id);
      return definition ? instance(equation, *definition, *node) : nullptr;
    });
    const ExprRef out = changed(open, [&](const ExprRef& node) -> ExprRef {
      if (node->op != Op::kAdd && node->op != Op::kSub) return nullptr;
      auto terms = terms_of(equation, node, nullptr);
      if (!terms) return nullptr;
      bool cancelled = false;
      while (cancel(subject_, *terms)) cancelled = true;
      return cancelled ? sum_of(*terms) : nullptr;
    });
    if (has_bias(out)) return false;
    gone_ = true;
    equation.rhs = out;
    p.equations[static_cast<size_t>(e)] = equation;
    return true;
  }

  // Is a sum u + b left?
  bool has_bias(const ExprRef& root) const {
    bool found = false;
    walk(root, [&](const Expr& e) {
      found = found || (e.op == Op::kAdd && e.args[0]->op == Op::kRead && e.args[0]->id == u_ &&
                        same_shape(e.args[1], bias_.rhs));
    });
    return found;
  }

  // The bias at some indices.
  static bool same_shape(const ExprRef& a, const ExprRef& b) {
    if (a->op != b->op || a->args.size() != b->args.size() || a->reducer != b->reducer) return false;
    if (a->op == Op::kRead) return a->id == b->id;
    for (size_t i = 0; i < a->args.size(); ++i) {
      if (!same_shape(a->args[i], b->args[i])) return false;
    }
    return true;
  }

  const Subject& subject_;
  const Program& program_;
  const Definitions& definitions_;
  int id_;
  Equation bias_, plain_;  // the bias as a definition of t, and the rest as that of u
  int u_ = -1;
  bool gone_ = false;         // somewhere
  std::set<int> statistics_;  // tensors that are a statistic of u plus the bias
};

std::optional<Rewritten> without_bias(const Subject& subject, int id) {
  if (subject.program().equation(id).group >= 0) return std::nullopt;
  return BiasCanceller(subject, id).run();
}

}  // namespace

extern const Rewrite solstice_rewrites_cancel_bias;
const Rewrite solstice_rewrites_cancel_bias = {
    .name = "cancel_bias",
    .help = "a bias that is the same for all elements of a normalisation's statistics goes",
    .at = without_bias,
};

}  // namespace solstice::ir
