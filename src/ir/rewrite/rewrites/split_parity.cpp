// A strided transposed convolution, split by the remainder of its output positions: each part is a plain convolution
// with the taps of that remainder.
//
//   t[u] = sum[c,i,r where u == 2*i+r-1](x[c,i] * w[c,r])
//   =  t[2*p] = sum[c](x[c,p] * w[c,1]);   t[2*p+1] = sum[c,r<2](x[c,p+1-r else 0] * w[c,2*r])
//
// Proof. Every u is s*p + a for one a in 0..s-1. u == s*i + d*r + o then means s divides a - o - d*r: that picks taps
// r = r0 + g*r' with g = s / gcd(s, d), or none, and i = p + (a - o - d*r) / s. So the sum over (i, r) is one over r'
// with i put in; the points whose i lies outside of 0..I-1 had no term. They are left out by a `where`, or read as 0
// where the only read at i is a factor of the product that is summed and the other factors are finite for every finite
// input (FiniteValues) and cannot stop at run time: 0 times infinity is NaN. Without taps the sum is empty, 0. The
// parts are disjoint and cover t. The number of operations is the same: counting leaves out the points without a tap
// already.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/integer.h"
#include "ir/analysis/live.h"
#include "ir/analysis/stops.h"
#include "ir/rewrite/edit.h"
#include "ir/rewrite/finite.h"
#include "ir/rewrite/merge.h"
#include "ir/rewrite/rewrite.h"
#include "ir/rewrite/terms.h"

namespace solstice::ir {
namespace {

constexpr int64_t kMostParts = 64;

// u == stride*i + dilation*r + offset.
struct Relation {
  int u = -1, i = -1, r = -1;
  int64_t stride = 1, dilation = 1, offset = 0;
};

std::optional<Relation> relation_of(const Equation& equation, const ExprRef& condition,
                                    const std::vector<int>& binders) {
  if (condition->op != Op::kEq) return std::nullopt;
  const auto form = as_affine(make(Op::kSub, {condition->args[0], condition->args[1]}));
  if (!form || form->terms.size() != 3) return std::nullopt;
  Relation out;
  int64_t sign = 0;
  for (const auto& [id, coefficient] : form->terms) {
    if (std::find(binders.begin(), binders.end(), id) != binders.end()) continue;
    if (out.u >= 0 || std::abs(coefficient) != 1) return std::nullopt;
    out.u = id;
    sign = coefficient;
  }
  if (out.u < 0) return std::nullopt;
  out.offset = -sign * form->offset;
  for (const auto& [id, coefficient] : form->terms) {
    if (id == out.u) continue;
    const int64_t factor = -sign * coefficient;
    if (factor <= 0) return std::nullopt;
    const bool wider = out.i < 0 || index_of(equation, id).extent > index_of(equation, out.i).extent;
    if (wider) {
      out.r = out.i, out.dilation = out.stride;
      out.i = id, out.stride = factor;
    } else {
      out.r = id, out.dilation = factor;
    }
  }
  return out.stride > 1 ? std::optional(out) : std::nullopt;
}

// One part: u = stride*p + remainder.
class PartWriter {
 public:
  PartWriter(const Subject& subject, const Equation& equation, const ExprRef& reduction,
             std::vector<Relation> relations, std::vector<ExprRef> conditions)
      : program_(subject.program()),
        finite_(subject.program(), subject.definitions()),
        out_(equation),
        reduction_(reduction),
        relations_(std::move(relations)),
        conditions_(std::move(conditions)) {
    binders_ = reduction->binders;
  }

  // Nothing where the part has no elements.
  std::optional<Equation> write(const std::vector<int64_t>& remainders) {
    bool empty = false;
    for (size_t d = 0; d < relations_.size(); ++d) {
      if (!place(relations_[d], remainders[d])) return std::nullopt;
      empty = empty || !taps(relations_[d], remainders[d]);
    }
    const ExprRef sum = empty ? make_real(0) : summed();
    const Equation from = out_;
    const ExprRef rhs = replaced(out_.rhs, reduction_.get(), sum);
    out_.rhs = transplanted(out_, from, rhs, places_);
    return out_;
  }

 private:
  // The index p, and u in terms of it.
  bool place(const Relation& relation, int64_t remainder) {
    Index index = index_of(out_, relation.u);
    const int64_t extent = floor_div(index.extent - remainder + relation.stride - 1, relation.stride);
    if (extent <= 0) return false;
    if (!index.dim.empty())
      index.dim = fmt::format("({}+{})//{}", index.dim, relation.stride - 1 - remainder, relation.stride);
    index.extent = extent;
    const int p = static_cast<int>(out_.indices.size());
    out_.indices.push_back(index);
    const ExprRef at = to_expr(Affine{remainder, {{p, relation.stride}}});
    places_[relation.u] = at;
    std::replace(out_.free.begin(), out_.free.end(), relation.u, p);
    for (ExprRef& e : out_.lhs) {
      if (e->op == Op::kIndex && e->id == relation.u) e = at;
    }
    return true;
  }

  // r and i for the taps of this remainder; false: there are none.
  bool taps(const Relation& relation, int64_t remainder) {
    const int64_t rest = remainder - relation.offset;
    std::vector<int64_t> all;
    for (int64_t r = 0; r < index_of(out_, relation.r).extent; ++r) {
      if ((rest - relation.dilation * r) % relation.stride == 0) all.push_back(r);
    }
    if (all.empty()) return false;
    const int64_t step = relation.stride / std::gcd(relation.stride, relation.dilation);
    const ExprRef p = places_[relation.u];
    const int p_id = indices_of(p).empty() ? -1 : *indices_of(p).begin();
    Affine r{all[0], {}};
    Affine i{(rest - relation.dilation * all[0]) / relation.stride, {{p_id, 1}}};
    binders_.erase(std::find(binders_.begin(), binders_.end(), relation.i));
    const auto tap = std::find(binders_.begin(), binders_.end(), relation.r);
    if (all.size() == 1) {
      binders_.erase(tap);
    } else {
      Index index = index_of(out_, relation.r);
      index.extent = static_cast<int64_t>(all.size());
      index.dim.clear();
      *tap = static_cast<int>(out_.indices.size());
      r.terms.emplace_back(*tap, step);
      i.terms.emplace_back(*tap, -relation.dilation * step / relation.stride);
      out_.indices.push_back(index);
    }
    values_[relation.r] = to_expr(r);
    values_[relation.i] = to_expr(i);
    inputs_.push_back(relation.i);
    return true;
  }

  static ExprRef with_values(const ExprRef& e, const std::map<int, ExprRef>& values) {
    return changed(e, [&](const ExprRef& node) -> ExprRef {
      const auto found = node->op == Op::kIndex ? values.find(node->id) : values.end();
      return found == values.end() ? nullptr : found->second;
    });
  }

  // The only read at the solved indices, as a factor of the body; null: it is not that simple.
  ExprRef padded_factor(const ExprRef& body) {
    const IndexSet solved(inputs_.begin(), inputs_.end());
    const auto term = terms_of(out_, body, nullptr, 1);
    if (!term || !(*term)[0].divisors.empty()) return nullptr;
    ExprRef found;
    for (const ExprRef& factor : (*term)[0].factors) {
      if (!depends(factor, solved)) {
        if (can_stop(factor) || !finite_.has(factor)) return nullptr;
        continue;
      }
      if (found || factor->op != Op::kRead || factor->has_else) return nullptr;
      found = factor;
    }
    return found;
  }

  // Is x[.., i, ..] in range exactly where i is?
  bool bounds(const ExprRef& read) const {
    for (const int i : inputs_) {
      bool found = false;
      for (size_t d = 0; d < read->args.size(); ++d) {
        const bool bare = read->args[d]->op == Op::kIndex && read->args[d]->id == i;
        found = found || (bare && program_.tensor(read->id).shape[d] == index_of(out_, i).extent);
      }
      if (!found) return false;
    }
    return true;
  }

  ExprRef summed() {
    ExprRef body = reduction_->args[0];
    std::vector<ExprRef> conditions = conditions_;
    const ExprRef read = padded_factor(body);
    if (read && bounds(read)) {
      auto padded = std::make_shared<Expr>(*read);
      padded->has_else = true;
      padded->args.push_back(make_int(0));
      body = replaced(body, read.get(), padded);
    } else {
      for (const int i : inputs_) {
        conditions.push_back(make(Op::kLe, {make_int(0), make_index(i)}));
        conditions.push_back(make(Op::kLt, {make_index(i), extent_of(out_, i)}));
      }
    }
    body = with_values(body, values_);
    const ExprRef condition = conditions.empty() ? nullptr : with_values(conjunction(conditions), values_);
    if (!binders_.empty()) return make_reduce(Reducer::kSum, binders_, body, condition);
    return condition ? make(Op::kSelect, {condition, body, make_int(0)}) : body;
  }

  const Program& program_;
  FiniteValues finite_;
  Equation out_;
  ExprRef reduction_;
  std::vector<Relation> relations_;
  std::vector<ExprRef> conditions_;  // those that are no relation
  std::vector<int> binders_, inputs_;
  std::map<int, ExprRef> places_;  // u
  std::map<int, ExprRef> values_;  // i and r
};

ExprRef conditional_sum(const ExprRef& e) {
  const std::vector<ExprRef> sums =
      reductions_in(e, [](const Expr& r) { return r.reducer == Reducer::kSum && r.args.size() > 1; });
  return sums.empty() ? nullptr : sums[0];
}

void put_parts(Program& program, int id, const std::vector<Equation>& parts) {
  program.equations[static_cast<size_t>(id)] = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) insert_equation(program, id + 1, parts[i]);
}

std::optional<Rewritten> split_by_parity(const Subject& subject, int id) {
  const Program& program = subject.program();
  const Equation& equation = program.equation(id);
  const ExprRef sum = conditional_sum(equation.rhs);
  if (!sum || subject.definitions().whole(equation.target) != &equation) return std::nullopt;
  std::vector<ExprRef> all, conditions;
  std::vector<Relation> relations;
  add_conjuncts(sum->args[1], all);
  int64_t parts = 1;
  IndexSet used;
  for (const ExprRef& condition : all) {
    const auto relation = relation_of(equation, condition, sum->binders);
    const bool fresh = relation && used.insert(relation->u).second && used.insert(relation->i).second &&
                       used.insert(relation->r).second;
    if (fresh) relations.push_back(*relation);
    if (!fresh) conditions.push_back(condition);
    if (fresh) parts *= relation->stride;
  }
  if (relations.empty() || parts > kMostParts) return std::nullopt;
  Rewritten out{program, ""};
  std::vector<Equation> written;
  for (int64_t part = 0; part < parts; ++part) {
    std::vector<int64_t> remainders;
    int64_t rest = part;
    for (const Relation& relation : relations) {
      remainders.push_back(rest % relation.stride);
      rest /= relation.stride;
    }
    PartWriter writer(subject, equation, sum, relations, conditions);
    if (auto piece = writer.write(remainders)) written.push_back(std::move(*piece));
  }
  Tensor& target = out.program.tensors[static_cast<size_t>(equation.target)];
  if (target.kind == TensorKind::kLocal) {
    target.kind = TensorKind::kTensor;
    target.dtype = subject.definitions().dtype(equation.target);
  }
  put_parts(out.program, id, written);
  out.description = fmt::format("`{}` splits into {} convolutions", target.name, written.size());
  return out;
}

}  // namespace

extern const Rewrite solstice_rewrites_split_parity;
const Rewrite solstice_rewrites_split_parity = {
    .name = "split_parity",
    .help = "a strided transposed convolution becomes one plain convolution for each remainder of its output positions",
    .structural = true,
    .at = split_by_parity,
};

}  // namespace solstice::ir
