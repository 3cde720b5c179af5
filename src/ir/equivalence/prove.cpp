#include "ir/equivalence/prove.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "ir/equal.h"
#include "ir/equivalence/opened.h"
#include "ir/equivalence/stops.h"

namespace solstice::ir {
namespace {

using normal::Pool;
using normal::TermId;

class Prover {
 public:
  Prover(const Program& problem, const Program& candidate, Seconds most)
      : a_(problem, "a:"),
        b_(candidate, "b:"),
        end_(Clock::now() + std::chrono::microseconds(static_cast<int64_t>(most.value * 1e6))) {
    for (const Equation& e : a_.program.equations) {
      if (e.group >= 0) groups_[e.group].insert(e.target);
    }
  }

  // `assuming`: what cannot be proved becomes an obligation and a cut; else it is substituted on.
  std::optional<std::vector<Obligation>> run(bool assuming) {
    const Program& problem = a_.program;
    std::vector<Obligation> out;
    int failures = 0;
    for (size_t e = 0; e < problem.equations.size() && failures < kMostFailures && Clock::now() < end_; ++e) {
      const Equation& equation = problem.equations[e];
      if (a_.cuts.count(equation.target) || !is_last_piece(e)) continue;
      const bool proved = prove(targets_of(equation));
      failures = proved || assuming ? 0 : failures + 1;
      if (proved || equation.group >= 0) continue;
      const int other = b_.program.find_tensor(problem.target_of(equation).name);
      if (!assuming || !may_stand_for(equation.target, other)) continue;
      out.push_back({problem.target_of(equation).name, names()});
      mark(equation.target, other);
    }
    for (size_t t = 0; t < problem.tensors.size(); ++t) {
      const Tensor& tensor = problem.tensors[t];
      const bool asked = tensor.kind == TensorKind::kOutput || tensor.into >= 0;
      if (asked && !a_.cuts.count(static_cast<int>(t))) return std::nullopt;
    }
    StopSide candidate = stops_side(b_);
    candidate.settled = alike_;
    if (!stops_only_with(stops_side(a_), candidate, limits())) return std::nullopt;
    return out;
  }

 private:
  using Clock = std::chrono::steady_clock;
  // A comparison stops at so many terms, whatever the machine; the time is there for what nobody thought of.
  static constexpr size_t kMostTerms = 20'000;
  static constexpr std::chrono::milliseconds kEach{1000};
  static constexpr int kMostFailures = 4;  // in a row, without assuming: what follows is built on what differs

  bool is_last_piece(size_t e) const {
    return a_.pieces_of(a_.program.equations[e].target).back() == static_cast<int>(e);
  }

  // A recurrence defines its tensors together.
  std::vector<int> targets_of(const Equation& equation) const {
    if (equation.group < 0) return {equation.target};
    const std::set<int>& all = groups_.at(equation.group);
    return {all.begin(), all.end()};
  }

  // Equal equations with equal reads define equal tensors. A recurrence's own tensors count as equal meanwhile: its
  // static rules make every element depend on earlier ones alone, so this is induction over its steps.
  bool prove(const std::vector<int>& targets) {
    const bool recurrence = a_.is_recurrence(targets.front());
    std::vector<std::pair<int, int>> pairs;
    for (const int target : targets) {
      const int other = b_.program.find_tensor(a_.program.tensor(target).name);
      if (other < 0 || b_.pieces_of(other).empty()) return false;
      pairs.emplace_back(target, other);
      if (recurrence) mark(target, other);
    }
    const bool equal = std::all_of(pairs.begin(), pairs.end(), [&](const auto& p) {
      return written_alike(p.first, p.second) || same_definitions(p.first, p.second);
    });
    for (const auto& [target, other] : pairs) {
      if (equal) mark(target, other);
      if (!equal) a_.cuts.erase(target), b_.cuts.erase(other), alike_.erase(other);
    }
    return equal;
  }

  // Both have elements for all of it, so that either can be computed and compared.
  bool may_stand_for(int target, int other) const {
    if (other < 0 || b_.pieces_of(other).empty() || b_.is_recurrence(other)) return false;
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

  // The same equations up to the names of indices, of tensors that are equal: most of what an edit leaves alone. Their
  // stores stop alike too, so the types must be the same.
  bool written_alike(int target, int other) {
    const std::vector<int>&pieces = a_.pieces_of(target), &others = b_.pieces_of(other);
    const Tensor &whole = a_.program.tensor(target), &theirs = b_.program.tensor(other);
    if (pieces.size() != others.size() || whole.shape != theirs.shape || whole.dtype != theirs.dtype ||
        whole.value != theirs.value) {
      return false;
    }
    for (size_t p = 0; p < pieces.size(); ++p) {
      const Equation &x = a_.program.equation(pieces[p]), &y = b_.program.equation(others[p]);
      bool known = true;
      walk(x.rhs, [&](const Expr& e) {
        known = known && (e.op != Op::kRead || a_.shared.count(e.id) || a_.cuts.count(e.id));
      });
      if (!known || (x.group >= 0) != (y.group >= 0) || !same_up_to_names(a_.program, x, b_.program, y)) return false;
    }
    alike_.insert(other);
    return true;
  }

  normal::Limits limits() const {
    const auto left =
        std::chrono::duration_cast<std::chrono::microseconds>(std::min<Clock::duration>(end_ - Clock::now(), kEach));
    normal::Limits out;
    out.terms = kMostTerms;
    out.microseconds = left.count();
    return out;
  }

  static StopSide stops_side(const Side& side) {
    StopSide out{side.program, side.prefix, side.shared, {}};
    out.shared.insert(side.cuts.begin(), side.cuts.end());
    return out;
  }

  // One pool for both, so that equal terms have one id. Elements are compared piece by piece of the side that has more.
  bool same_definitions(int target, int other) {
    const Tensor &x = a_.program.tensor(target), &y = b_.program.tensor(other);
    if (a_.is_recurrence(target) != b_.is_recurrence(other) || x.shape != y.shape || Clock::now() >= end_) return false;
    Pool pool(limits());
    if (a_.is_recurrence(target)) {
      const auto p = steps_of(pool, a_, target), q = steps_of(pool, b_, other);
      return p && q && *p == *q;
    }
    std::vector<Pattern> patterns = patterns_of(pool, a_, target), others = patterns_of(pool, b_, other);
    if (fineness(others) > fineness(patterns)) patterns = std::move(others);
    const auto alike = [&](const Opened& opened) {
      const std::vector<TermId> p = values_at(pool, a_, target, patterns, opened.a),
                                q = values_at(pool, b_, other, patterns, opened.b);
      return !p.empty() && p == q;
    };
    if (alike({})) return true;
    const Opened opened = read_by_one(a_, target, b_, other, end_);
    return !(opened.a.empty() && opened.b.empty()) && alike(opened);
  }

  Side a_, b_;
  std::map<int, std::set<int>> groups_;  // targets of each recurrence
  std::set<int> alike_;                  // the candidate's tensors whose equations are the problem's
  Clock::time_point end_;
};

constexpr double kWithoutAssuming = 0.7;  // of the time; the rest is for what has to be tested

}  // namespace

std::optional<std::vector<Obligation>> obligations(const Program& problem, const Program& candidate, Seconds most) {
  const Deadline deadline(most);
  if (auto proved = Prover(problem, candidate, Seconds{most.value * kWithoutAssuming}).run(false)) return proved;
  return Prover(problem, candidate, deadline.left()).run(true);
}

}  // namespace solstice::ir
