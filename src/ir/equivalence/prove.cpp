#include "ir/equivalence/prove.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ir/equal.h"
#include "ir/equivalence/inline.h"

namespace solstice::ir {
namespace {

// One of the two programs, with what has been proved of its tensors so far.
struct Side {
  explicit Side(const Program& p) : program(p), inliner(p), pieces(p.tensors.size()) {
    for (size_t e = 0; e < p.equations.size(); ++e) pieces[static_cast<size_t>(p.equations[e].target)].push_back(static_cast<int>(e));
  }

  bool is_shared(int tensor) const {
    const Tensor& t = program.tensor(tensor);
    return cuts.count(tensor) > 0 || (t.is_interface() && t.kind != TensorKind::kOutput);
  }

  bool reads_only_shared(const Equation& e) const {
    bool out = true;
    walk(e.rhs, [&](const Expr& r) { out = out && (r.op != Op::kRead || is_shared(r.id)); });
    return out;
  }

  // The pieces of a tensor in terms of shared tensors alone, in an order that does not depend on the text.
  std::optional<std::vector<Equation>> definitions(int tensor) {
    std::vector<std::pair<uint64_t, Equation>> found;
    for (const int id : pieces[static_cast<size_t>(tensor)]) {
      std::optional<Equation> e = inliner.inlined(id, cuts);
      if (!e || !reads_only_shared(*e)) return std::nullopt;
      found.emplace_back(structural_hash(program, *e), std::move(*e));
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Equation> out;
    for (auto& [hash, e] : found) out.push_back(std::move(e));
    return out;
  }

  bool is_recurrence(int tensor) const { return program.equation(pieces[static_cast<size_t>(tensor)].front()).group >= 0; }

  const Program& program;
  Inliner inliner;
  std::vector<std::vector<int>> pieces;
  std::set<int> cuts;  // equal to the other side's tensor of the same name
};

class Prover {
 public:
  Prover(const Program& problem, const Program& candidate) : a_(problem), b_(candidate) {}

  std::optional<std::vector<Obligation>> run() {
    const Program& problem = a_.program;
    std::vector<Obligation> out;
    for (size_t e = 0; e < problem.equations.size(); ++e) {
      const Equation& equation = problem.equations[e];
      if (a_.cuts.count(equation.target) || !is_last_piece(e) || prove(targets_of(equation)) || equation.group >= 0) continue;
      const int other = b_.program.find_tensor(problem.target_of(equation).name);
      if (!may_stand_for(equation.target, other)) continue;
      out.push_back({problem.target_of(equation).name, names()});
      mark(equation.target, other);
    }
    for (size_t t = 0; t < problem.tensors.size(); ++t) {
      const Tensor& tensor = problem.tensors[t];
      const bool asked = tensor.kind == TensorKind::kOutput || tensor.into >= 0;
      if (asked && !a_.cuts.count(static_cast<int>(t))) return std::nullopt;
    }
    return out;
  }

 private:
  bool is_last_piece(size_t e) const {
    const auto& pieces = a_.pieces[static_cast<size_t>(a_.program.equations[e].target)];
    return pieces.back() == static_cast<int>(e);
  }

  // A recurrence defines its tensors together.
  std::vector<int> targets_of(const Equation& equation) const {
    std::set<int> out{equation.target};
    for (const Equation& e : a_.program.equations) {
      if (equation.group >= 0 && e.group == equation.group) out.insert(e.target);
    }
    return {out.begin(), out.end()};
  }

  // Equal equations with equal reads define equal tensors. A recurrence's own tensors count as equal meanwhile: its
  // static rules make every element depend on earlier ones alone, so this is induction over its steps.
  bool prove(const std::vector<int>& targets) {
    const bool recurrence = a_.is_recurrence(targets.front());
    std::vector<std::pair<int, int>> pairs;
    for (const int target : targets) {
      const int other = b_.program.find_tensor(a_.program.tensor(target).name);
      if (other < 0 || b_.pieces[static_cast<size_t>(other)].empty()) return false;
      pairs.emplace_back(target, other);
      if (recurrence) mark(target, other);
    }
    const bool equal = std::all_of(pairs.begin(), pairs.end(), [&](const auto& p) { return same_definitions(p.first, p.second); });
    for (const auto& [target, other] : pairs) {
      if (equal) mark(target, other);
      if (!equal) a_.cuts.erase(target), b_.cuts.erase(other);
    }
    return equal;
  }

  // Both have elements for all of it, so that either can be computed and compared.
  bool may_stand_for(int target, int other) const {
    if (other < 0 || b_.pieces[static_cast<size_t>(other)].empty() || b_.is_recurrence(other)) return false;
    const Tensor &x = a_.program.tensor(target), &y = b_.program.tensor(other);
    return x.shape == y.shape && x.value == y.value;
  }

  std::set<std::string> names() const {
    std::set<std::string> out;
    for (const int t : a_.cuts) out.insert(a_.program.tensor(t).name);
    return out;
  }

  void mark(int target, int other) {
    a_.cuts.insert(target);
    b_.cuts.insert(other);
  }

  bool same_definitions(int target, int other) {
    if (a_.is_recurrence(target) != b_.is_recurrence(other)) return false;
    const auto x = a_.definitions(target);
    const auto y = b_.definitions(other);
    if (!x || !y || x->size() != y->size()) return false;
    for (size_t i = 0; i < x->size(); ++i) {
      if (!same_up_to_names(a_.program, (*x)[i], b_.program, (*y)[i])) return false;
    }
    return true;
  }

  Side a_, b_;
};

}  // namespace

std::optional<std::vector<Obligation>> obligations(const Program& problem, const Program& candidate) {
  return Prover(problem, candidate).run();
}

}  // namespace solstice::ir
