#include <fmt/format.h>

#include <algorithm>

#include "ir/bind.h"
#include "ir/equivalence.h"
#include "ir/equivalence/cone.h"
#include "ir/equivalence/interface.h"
#include "ir/equivalence/literals.h"
#include "ir/equivalence/prove.h"
#include "ir/equivalence/testing.h"
#include "ir/interpret/split.h"

namespace solstice::ir {
namespace {

constexpr int kDimChoices = 3;
constexpr size_t kBranchesShown = 4;
constexpr double kProving = 0.8;  // of the time that is left

Equivalence verdict(Verdict v, std::string reason) {
  Equivalence out;
  out.verdict = v;
  out.reason = std::move(reason);
  return out;
}

bool has_equality(const ExprRef& condition) {
  bool out = false;
  walk(condition, [&](const Expr& e) { out |= e.op == Op::kEq; });
  return out;
}

// Operations of interpreting `e` at so many points; an equality leaves the points of all bound indices but
// one.
double cost_of(const Equation& equation, const ExprRef& e, double points) {
  double out = points;
  double inner = points;
  double widest = 1;
  for (const int id : e->binders) {
    const auto extent = static_cast<double>(equation.indices[static_cast<size_t>(id)].extent);
    inner *= extent;
    widest = std::max(widest, extent);
  }
  const bool filtered = e->op == Op::kReduce && e->args.size() > 1;
  for (size_t a = 0; a < e->args.size(); ++a) {
    const bool body = filtered && a == 0 && has_equality(e->args[1]);
    out += cost_of(equation, e->args[a], body ? inner / widest : inner);
  }
  return out;
}

double cost_of(const Program& p) {
  double out = 0;
  for (const Equation& e : p.equations) {
    double points = 1;
    for (const int id : e.free) points *= static_cast<double>(e.indices[static_cast<size_t>(id)].extent);
    out += cost_of(e, split_domains(e.indices, e.rhs), points);
  }
  return out;
}

using DimList = std::vector<std::pair<std::string, int64_t>>;

DimList real_values(const Program& problem, const DimList& shrunken) {
  DimList out;
  for (const auto& [name, value] : shrunken) {
    const auto found =
        std::find_if(problem.dims.begin(), problem.dims.end(), [&, n = name](const Dim& d) { return d.name == n; });
    out.emplace_back(name, found == problem.dims.end() ? value : found->value);
  }
  return out;
}

// One question: its two programs as text and as what is compared.
class Question {
 public:
  Question(const lang::Program& problem_text, const lang::Program& candidate_text, const Program& problem,
           const Program& candidate, const EquivalenceOptions& options, const Deadline& deadline, Seconds binding)
      : problem_text_(problem_text),
        candidate_text_(candidate_text),
        problem_(problem),
        candidate_(candidate),
        options_(options),
        deadline_(deadline),
        binding_(binding) {}

  Equivalence answer() {
    const auto left = obligations(problem_, candidate_, Seconds{kProving * deadline_.left().value});
    if (left && left->empty()) return verdict(Verdict::kProved, "every output has the problem's definition");
    if (deadline_.left().value < binding_.value) return verdict(Verdict::kUnknown, too_short());
    const Equivalence points = at_points(left);
    if (points.verdict == Verdict::kRefuted) return points;
    if (points.verdict == Verdict::kTested) return with_literals(points);
    Equivalence out = shrunken();
    if (out.verdict == Verdict::kUnknown && !points.reason.empty()) out.reason = points.reason;
    return out;
  }

 private:
  // At the real shapes: whole cones where they are affordable, else what differs, with what comes before as inputs.
  Equivalence at_points(const std::optional<std::vector<Obligation>>& left) {
    Equivalence out = verdict(Verdict::kUnknown, "");
    const Outcome whole =
        test_points(problem_, candidate_, Tested::kResults, options_.point_operations, deadline_, out);
    if (whole == Outcome::kDifferent) out.verdict = Verdict::kRefuted;
    if (whole == Outcome::kEqual) return tested(out, fmt::format("equal at {} points of the real shapes", out.points));
    if (whole != Outcome::kNotTested || !left) return out;
    out = verdict(Verdict::kUnknown, out.reason);
    const int64_t operations = options_.point_operations / std::max<int64_t>(1, static_cast<int64_t>(left->size()));
    for (const Obligation& each : *left) {
      if (each.given.empty()) return out;
      const Program a = cone(problem_, each.tensor, each.given), b = cone(candidate_, each.tensor, each.given);
      Equivalence one = out;
      // Values that were related by the definitions left out no longer are, so a difference says nothing.
      if (test_points(a, b, Tested::kIntermediates, operations, deadline_, one) != Outcome::kEqual) return out;
      out.points = one.points;
      out.unasked = one.unasked;
      out.families = std::max(out.families, one.families);
      out.uncovered.insert(out.uncovered.end(), one.uncovered.begin(), one.uncovered.end());
      out.beyond.insert(out.beyond.end(), one.beyond.begin(), one.beyond.end());
    }
    return tested(out,
                  fmt::format("equal at {} points of the real shapes where the programs differ (the rest is proved)",
                              out.points));
  }

  static Equivalence tested(Equivalence out, std::string how) {
    if (!out.beyond.empty()) {
      out.verdict = Verdict::kUnknown;
      out.reason = std::move(how) + fmt::format(", and integers too large for a test decide `{}`", out.beyond[0]);
      return out;
    }
    out.verdict = Verdict::kTested;
    out.reason = std::move(how) + fmt::format(", {} sets of inputs", out.families);
    if (out.unasked > 0)
      out.reason += fmt::format("; {} elements differ where the problem's are infinite or NaN", out.unasked);
    if (out.uncovered.empty()) return out;
    const std::vector<std::string> shown(
        out.uncovered.begin(),
        out.uncovered.begin() + static_cast<ptrdiff_t>(std::min(kBranchesShown, out.uncovered.size())));
    out.reason += fmt::format("; taken one way only: `{}`", fmt::join(shown, "`, `"));
    if (shown.size() < out.uncovered.size())
      out.reason += fmt::format(" and {} more", out.uncovered.size() - shown.size());
    return out;
  }

  std::string too_short() const {
    return fmt::format("{:.0f} ms were not enough to prove or test it", 1e3 * options_.budget.value);
  }

  // Both programs at smaller dims; nothing if one of them has errors there.
  struct Small {
    DimList dims;
    std::optional<Program> problem, candidate;
    bool ok() const { return problem && candidate; }
  };
  Small small(int attempt) const {
    Small out;
    // Dims are legal if both programs bind, which is not interrupted, and neither is what follows.
    const double room = deadline_.left().value - 2 * binding_.value;
    if (room <= binding_.value) return out;
    out.dims = shrunken_dims(problem_text_, candidate_text_, attempt, Deadline(Seconds{room}));
    Diagnostics quiet;
    if (out.dims.empty() || deadline_.left().value <= binding_.value) return out;
    out.problem = bind(lang::with_dims(problem_text_, out.dims), quiet);
    out.candidate = bind(lang::with_dims(candidate_text_, out.dims), quiet);
    if (out.problem && out.candidate)
      out.candidate = comparable(with_assumptions(std::move(*out.candidate), *out.problem));
    if (out.problem) out.problem = comparable(*out.problem);
    return out;
  }

  std::optional<Diagnostic> literal(const DimList& dims) const {
    return dim_like_literal(problem_text_, candidate_text_, real_values(problem_, dims), dims);
  }

  bool too_large(const Small& s) const {
    return cost_of(*s.problem) + cost_of(*s.candidate) > static_cast<double>(options_.most_operations);
  }

  // Equal at the real dims: also at others, if a literal makes one wonder?
  Equivalence with_literals(Equivalence out) const {
    const Small s = small(0);
    if (!s.ok() || too_large(s)) return out;
    const auto warning = literal(s.dims);
    if (!warning) return out;
    Equivalence quiet;
    if (test_whole(*s.problem, *s.candidate, Tested::kResults, deadline_, quiet) == Outcome::kDifferent)
      out.warnings.push_back(*warning);
    return out;
  }

  Equivalence shrunken() const {
    Equivalence out = verdict(Verdict::kUnknown, "no smaller dims were found that both programs accept");
    int instances = 0, parts = 0;
    for (int attempt = 0; attempt < kDimChoices && !deadline_.passed(); ++attempt) {
      const Small s = small(attempt);
      if (!s.ok()) continue;
      out.dims = s.dims;
      if (too_large(s)) {
        const Compared apart = compared_apart(s, out);
        if (apart == Compared::kTooLarge) out.reason = "even at shrunken dims the programs are too large to interpret";
        if (apart == Compared::kOther) out.reason = "too large to interpret whole, and not equal tensor by tensor";
        instances += apart == Compared::kEqual ? 1 : 0, parts += apart == Compared::kEqual ? 1 : 0;
        continue;
      }
      const Outcome o = test_whole(*s.problem, *s.candidate, Tested::kResults, deadline_, out);
      if (o == Outcome::kDifferent) return differs(std::move(out));
      instances += o == Outcome::kEqual ? 1 : 0;
    }
    if (instances == 0 && deadline_.left().value <= 3 * binding_.value) out.reason = too_short();
    if (instances == 0) return out;
    return tested(out, fmt::format("equal at {} shrunken sizes{}", instances,
                                   parts > 0 ? " where the programs differ (the rest is proved)" : ""));
  }

  // Programs of the same numbers that differ at some dims are different programs. A number of one of them that a dim
  // may have given is what the real dims alone could decide, and they cost too much.
  Equivalence differs(Equivalence out) const {
    const auto warning = literal(out.dims);
    out.verdict = warning ? Verdict::kUnknown : Verdict::kRefuted;
    if (!warning) return out;
    out.reason = warning->message;
    out.counterexamples.clear();
    out.warnings.push_back(*warning);
    return out;
  }

  enum class Compared { kEqual, kTooLarge, kOther };

  // Every tensor that differs by itself, the others as inputs: equality here means equality, a difference here nothing.
  Compared compared_apart(const Small& s, Equivalence& out) const {
    const auto left = obligations(*s.problem, *s.candidate, Seconds{kProving * deadline_.left().value});
    if (!left) return Compared::kOther;
    for (const Obligation& each : *left) {
      const Program a = cone(*s.problem, each.tensor, each.given), b = cone(*s.candidate, each.tensor, each.given);
      if (cost_of(a) + cost_of(b) > static_cast<double>(options_.most_operations)) return Compared::kTooLarge;
      Equivalence one = out;
      if (test_whole(a, b, Tested::kIntermediates, deadline_, one) != Outcome::kEqual) return Compared::kOther;
      out.families = one.families;
      out.uncovered = one.uncovered;
      out.beyond = one.beyond;
    }
    return Compared::kEqual;
  }

  const lang::Program& problem_text_;
  const lang::Program& candidate_text_;
  const Program& problem_;
  const Program& candidate_;
  const EquivalenceOptions& options_;
  const Deadline& deadline_;
  const Seconds binding_;  // of both programs
};

}  // namespace

std::string_view name_of(Verdict v) {
  switch (v) {
    case Verdict::kProved:
      return "proved";
    case Verdict::kTested:
      return "tested";
    case Verdict::kRefuted:
      return "refuted";
    case Verdict::kUnknown:
      return "unknown";
  }
  return "unknown";
}

Equivalence same_meaning(const lang::Program& problem, const lang::Program& candidate,
                         const EquivalenceOptions& options) {
  const Deadline deadline(options.budget);
  const Seconds begin = monotonic_now();
  Diagnostics diagnostics;
  const auto a = bind(problem, diagnostics);
  if (!a) return verdict(Verdict::kUnknown, "the problem has errors");
  const auto b = bind(candidate, diagnostics);
  if (!b) return verdict(Verdict::kRefuted, "the candidate has errors");
  const Seconds binding{monotonic_now().value - begin.value};
  const std::string difference = interface_difference(*a, *b);
  if (!difference.empty()) return verdict(Verdict::kRefuted, difference);
  const Program compared_problem = comparable(*a), compared_candidate = comparable(with_assumptions(*b, *a));
  return Question(problem, candidate, compared_problem, compared_candidate, options, deadline, binding).answer();
}

}  // namespace solstice::ir
