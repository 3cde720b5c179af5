// Recognition of nodes, by the table of docs/equivalence.md.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "ir/analysis/contraction.h"
#include "ir/domain.h"
#include "ir/normal/nodes.h"

namespace solstice::ir::normal {
namespace {

bool any_below(const ExprRef& root, const std::function<bool(const Expr&)>& is) {
  bool found = false;
  walk(root, [&](const Expr& e) { found = found || is(e); });
  return found;
}

// Factors of a product, without numbers and what a guard or a divisor is.
void factors_of(const ExprRef& e, std::vector<ExprRef>& out) {
  if (e->op == Op::kMul) {
    for (const ExprRef& a : e->args) factors_of(a, out);
  } else if (e->op == Op::kNeg || e->op == Op::kDiv) {
    factors_of(e->args[0], out);
  } else if (e->op != Op::kInt && e->op != Op::kReal) {
    out.push_back(e);
  }
}

struct Part {
  std::vector<ExprRef> factors;
  Operand indices;
};

// Two operands, if the factors fall into two: one whose indices another has belongs to that one (a scale of a row).
std::vector<Part> operands_of(const ExprRef& body) {
  std::vector<ExprRef> factors;
  factors_of(body, factors);
  std::vector<Part> out;
  for (const ExprRef& f : factors) {
    if (reads_anything(f)) out.push_back({{f}, {indices_of(f), direct_indices(f)}});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Part& a, const Part& b) { return a.indices.all.size() > b.indices.all.size(); });
  for (size_t i = out.size(); out.size() > 2 && i-- > 1;) {
    const auto host = std::find_if(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(i), [&](const Part& o) {
      const IndexSet &own = o.indices.all, &other = out[i].indices.all;
      return std::includes(own.begin(), own.end(), other.begin(), other.end());
    });
    if (host == out.begin() + static_cast<std::ptrdiff_t>(i)) continue;
    host->factors.push_back(out[i].factors[0]);
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return out;
}

class Recogniser {
 public:
  explicit Recogniser(const Program& nodes) : nodes_(nodes) {
    for (const Equation& e : nodes.equations) writers_[e.target].push_back(&e);
  }

  NormalNode of(size_t id) {
    const Equation& e = nodes_.equations[id];
    NormalNode out;
    out.equation = static_cast<int>(id);
    equation_ = &e;
    roles_.clear();
    out.anchor = anchor(e);
    for (const int i : e.free) roles_.emplace(i, "free");
    for (const auto& [index, role] : roles_) out.roles.emplace_back(e.indices[static_cast<size_t>(index)].name, role);
    return out;
  }

 private:
  std::string anchor(const Equation& e) {
    if (e.group >= 0)
      return any_below(e.rhs, [&](const Expr& x) { return is_contraction_of(x); }) ? "recurrent" : "scan";
    const Expr& r = *e.rhs;
    if (r.op == Op::kRank) return "rank";
    if (r.op != Op::kReduce) return "map";
    for (const int b : r.binders) roles_[b] = "reduced";
    const ExprRef where = r.args.size() > 1 ? r.args[1] : nullptr;
    if (where && has_scatter(where)) return "scatter";
    if (r.reducer == Reducer::kSum) {
      if (const std::string found = contraction(r); !found.empty()) return found;
    }
    if (where && has_prefix(where, r)) return "scan";
    if (slides(r.args[0], r)) return "window";
    return feeds_its_rows(e) ? "rows" : "reduce";
  }

  static bool is_contraction_of(const Expr& x) {
    if (x.op != Op::kReduce || x.reducer != Reducer::kSum) return false;
    return operands_of(x.args[0]).size() == 2;
  }

  static bool has_scatter(const ExprRef& where) {
    return any_below(where, [](const Expr& e) {
      return e.op == Op::kEq &&
             any_below(e.args[0], [](const Expr& x) { return x.op == Op::kRead || x.op == Op::kRank; });
    });
  }

  // A bound on a bound index by one of the result.
  bool has_prefix(const ExprRef& where, const Expr& r) const {
    return any_below(where,
                     [&](const Expr& e) {
                       if (e.op != Op::kGe || e.args[0]->kind == ValueKind::kReal) return false;
                       const auto form = as_affine(e.args[0]);
                       if (!form || form->terms.size() != 2) return false;
                       const bool first = is_bound(form->terms[0].first, r), second = is_bound(form->terms[1].first, r);
                       return first != second && form->terms[0].second * form->terms[1].second == -1;
                     }) &&
           !slides(r.args[0], r);
  }

  static bool is_bound(int index, const Expr& r) {
    return std::find(r.binders.begin(), r.binders.end(), index) != r.binders.end();
  }

  // An index of a read made of a bound index and one of the result.
  bool slides(const ExprRef& body, const Expr& r) const {
    return any_below(body, [&](const Expr& e) {
      if (e.op != Op::kRead) return false;
      return std::any_of(e.args.begin(), e.args.end() - (e.has_else ? 1 : 0),
                         [&](const ExprRef& a) { return mixes(a, r); });
    });
  }

  // Digits do not slide: in D*g+d, d < D, every value has one place.
  bool is_mixed_radix(const ExprRef& index) const {
    auto form = as_affine(index);
    if (!form) return false;
    std::sort(form->terms.begin(), form->terms.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    int64_t span = 1;
    for (const auto& [id, weight] : form->terms) {
      if (weight < span) return false;
      span = weight * (equation_->indices[static_cast<size_t>(id)].extent - 1) + span;
    }
    return true;
  }

  bool mixes(const ExprRef& index, const Expr& r) const {
    if (is_mixed_radix(index)) return false;
    if (any_below(index, [](const Expr& e) { return e.op == Op::kRead; })) return false;
    bool bound = false, free = false;
    for (const int i : indices_of(index)) (is_bound(i, r) ? bound : free) = true;
    return bound && free;
  }

  std::string contraction(const Expr& r) {
    const std::vector<Part> operands = operands_of(r.args[0]);
    if (operands.size() != 2) return "";
    const Part &a = operands[0], &b = operands[1];
    const bool slid = slides(r.args[0], r);
    std::set<int> window;
    for (const int i : r.binders) {
      if (slid && moves(i, a, b, r)) window.insert(i);
    }
    bool m = false, n = false, k = false;
    std::map<int, std::string> roles;
    for (const int i : united(a.indices.all, b.indices.all)) {
      const Role role = role_of(is_bound(i, r), a.indices.direct.count(i) > 0, b.indices.direct.count(i) > 0);
      roles[i] = window.count(i) ? "window" : name_of(role, is_bound(i, r));
      m = m || roles[i] == "m", n = n || roles[i] == "n", k = k || roles[i] == "k";
    }
    const bool reduced = std::any_of(roles.begin(), roles.end(), [](const auto& x) { return x.second == "reduced"; });
    if (slid ? window.empty() : !k || !m || !n || reduced) return "";
    roles_ = roles;
    if (slid) return conv(r, k);
    if (takes_weights_of_scores(operands)) return "attention";
    return gathers(a) || gathers(b) ? "grouped_gemm" : "gemm";
  }

  static std::string_view name_of(Role role, bool bound) {
    switch (role) {
      case Role::kBatch:
        return "batch";
      case Role::kN:
        return "n";
      case Role::kK:
        return "k";
      default:
        return bound ? "reduced" : "m";  // an index that only selects slices is a row
    }
  }

  // A bound index that stands with an index of the result in one operand: a tap, or of a transposed convolution too.
  bool moves(int index, const Part& a, const Part& b, const Expr& r) const {
    for (const Part* o : {&a, &b}) {
      for (const ExprRef& f : o->factors) {
        const bool found = any_below(f, [&](const Expr& e) {
          if (e.op != Op::kRead) return false;
          return std::any_of(e.args.begin(), e.args.end() - (e.has_else ? 1 : 0),
                             [&](const ExprRef& i) { return mixes(i, r) && indices_of(i).count(index) > 0; });
        });
        if (found) return true;
      }
    }
    return false;
  }

  static std::string conv(const Expr& r, bool has_channels) {
    const bool divides = any_below(r.args[0], [](const Expr& e) { return e.op == Op::kFloorDiv; });
    const bool remainder = r.args.size() > 1 && any_below(r.args[1], [](const Expr& e) { return e.op == Op::kMod; });
    if (divides && remainder) return "conv_transposed";
    return has_channels ? "conv" : "conv_depthwise";
  }

  static bool gathers(const Part& o) {
    return std::any_of(o.factors.begin(), o.factors.end(), [](const ExprRef& f) {
      return any_below(f, [](const Expr& e) {
        if (e.op != Op::kRead) return false;
        return std::any_of(e.args.begin(), e.args.end() - (e.has_else ? 1 : 0), [](const ExprRef& i) {
          return any_below(i, [](const Expr& x) { return x.op == Op::kRead; });
        });
      });
    });
  }

  // exp of a product of two reads, or of a node that is one.
  bool takes_weights_of_scores(const std::vector<Part>& operands) const {
    for (const Part& o : operands) {
      for (const ExprRef& f : o.factors) {
        if (has_weights(f, 0)) return true;
      }
    }
    return false;
  }

  bool has_weights(const ExprRef& e, int depth) const {
    return any_below(e, [&](const Expr& x) {
      if (x.op == Op::kExp) return reads_scores(x.args[0], 0);
      const auto found = x.op == Op::kRead ? writers_.find(x.id) : writers_.end();
      if (found == writers_.end() || depth == kMostSteps) return false;
      return std::any_of(found->second.begin(), found->second.end(), [&](const Equation* w) {
        return w->rhs->op != Op::kReduce && w->group < 0 && has_weights(w->rhs, depth + 1);
      });
    });
  }

  bool reads_scores(const ExprRef& e, int depth) const {
    return any_below(e, [&](const Expr& x) {
      if (is_contraction_of(x)) return true;
      const auto found = x.op == Op::kRead ? writers_.find(x.id) : writers_.end();
      if (found == writers_.end() || depth == kMostSteps) return false;
      return std::any_of(found->second.begin(), found->second.end(), [&](const Equation* w) {
        return w->rhs->op == Op::kReduce ? is_contraction_of(*w->rhs) : reads_scores(w->rhs, depth + 1);
      });
    });
  }

  // Is its result used together with its argument?
  bool feeds_its_rows(const Equation& e) const {
    std::set<int> sources;
    walk(e.rhs, [&](const Expr& x) {
      if (x.op == Op::kRead) sources.insert(x.id);
    });
    std::set<int> results{e.target};
    for (const Equation& other : nodes_.equations) {  // and what is computed from it alone, point by point
      if (other.free.size() <= e.free.size() && other.rhs->op != Op::kReduce && reads(other, results))
        results.insert(other.target);
    }
    return std::any_of(nodes_.equations.begin(), nodes_.equations.end(), [&](const Equation& other) {
      return other.free.size() > e.free.size() && reads(other, results) && reads(other, sources);
    });
  }

  static bool reads(const Equation& e, const std::set<int>& tensors) {
    return any_below(e.rhs, [&](const Expr& x) { return x.op == Op::kRead && tensors.count(x.id) > 0; });
  }

  static constexpr int kMostSteps = 4;  // of elementwise equations between two reductions

  const Program& nodes_;
  const Equation* equation_ = nullptr;
  std::map<int, std::string> roles_;
  std::map<int, std::vector<const Equation*>> writers_;
};

}  // namespace

std::vector<NormalNode> recognised(const Program& nodes) {
  Recogniser recogniser(nodes);
  std::vector<NormalNode> out;
  for (size_t e = 0; e < nodes.equations.size(); ++e) out.push_back(recogniser.of(e));
  return out;
}

}  // namespace solstice::ir::normal
