#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/bind.h"
#include "ir/equal.h"
#include "ir/equivalence.h"
#include "ir/equivalence/cone.h"
#include "ir/equivalence/prove.h"
#include "ir/interpret/split.h"

namespace solstice::ir {
namespace {

constexpr double kTolerance = 1e-9;
constexpr int kDimChoices = 3;
constexpr size_t kMostCounterexamples = 4;

Equivalence verdict(Verdict v, std::string reason) {
  Equivalence out;
  out.verdict = v;
  out.reason = std::move(reason);
  return out;
}

// The interfaces must be those of the problem, declaration for declaration; "" if they are.
std::string interface_difference(const Program& problem, const Program& candidate) {
  const auto interface = [](const Program& p) {
    std::vector<const Tensor*> out;
    for (const Tensor& t : p.tensors) {
      if (t.is_interface() || t.into >= 0) out.push_back(&t);
    }
    return out;
  };
  const auto a = interface(problem);
  const auto b = interface(candidate);
  if (a.size() != b.size()) return fmt::format("the problem has {} interface tensors, the candidate {}", a.size(), b.size());
  for (const Tensor* t : a) {
    const int id = candidate.find_tensor(t->name);
    if (id < 0) return fmt::format("the candidate has no `{}`", t->name);
    const Tensor& other = candidate.tensor(id);
    const bool same_into =
        (t->into < 0) == (other.into < 0) && (t->into < 0 || problem.tensor(t->into).name == candidate.tensor(other.into).name);
    if (other.kind != t->kind || other.dtype != t->dtype || other.shape != t->shape || other.strides != t->strides || !same_into) {
      return fmt::format("`{}` is declared differently", t->name);
    }
  }
  if (candidate.assumptions.size() != problem.assumptions.size()) return "the candidate assumes what the problem does not";
  for (size_t i = 0; i < problem.assumptions.size(); ++i) {
    if (!same_up_to_names(problem, problem.assumptions[i], candidate, candidate.assumptions[i]))
      return "the candidate assumes what the problem does not";
  }
  return "";
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
    out += cost_of(e, split_domains(e.rhs), points);
  }
  return out;
}

std::vector<int64_t> index_of(size_t flat, const std::vector<int64_t>& shape) {
  std::vector<int64_t> out(shape.size());
  auto rest = static_cast<int64_t>(flat);
  for (size_t d = shape.size(); d-- > 0;) {
    out[d] = rest % shape[d];
    rest /= shape[d];
  }
  return out;
}

bool differ(double a, double b, double scale) {
  if (!std::isfinite(a)) return false;  // an infinity or NaN of the problem asks for nothing finite
  return !(std::abs(a - b) <= kTolerance * std::max(scale, 1e-300));
}

void compare(const TensorValues& a, const TensorValues& b, Equivalence& out, int family) {
  for (const auto& [name, expected] : a) {
    const auto& actual = b.at(name).values;
    double scale = 0;
    for (const double v : expected.values) scale = std::isfinite(v) ? std::max(scale, std::abs(v)) : scale;
    for (size_t i = 0; i < expected.values.size() && out.counterexamples.size() < kMostCounterexamples; ++i) {
      if (!differ(expected.values[i], actual[i], scale)) continue;
      out.counterexamples.push_back(
          {name, index_of(i, expected.shape), expected.values[i], actual[i], std::string(input_family_name(family)), out.dims});
    }
  }
}

// One instance: true if there is nothing more to try.
bool test_instance(const Program& problem, const Program& candidate, Deadline deadline, Equivalence& out) {
  InterpretOptions options;
  options.deadline = deadline;
  for (int family = 0; family < input_families(); ++family) {
    const TensorValues inputs = random_inputs(problem, family, static_cast<uint64_t>(family) + 1);
    const auto expected = interpret(problem, inputs, options);
    if (!expected.ok()) continue;  // these inputs are not the problem's; other families may be
    const auto actual = interpret(candidate, inputs, options);
    if (!actual.ok() && actual.error().code == Code::deadline) return true;
    if (!actual.ok()) {
      out.verdict = Verdict::kRefuted;
      out.reason = fmt::format("the candidate fails where the problem does not: {}", actual.error().message);
      return true;
    }
    ++out.families;
    compare(*expected, *actual, out, family);
    if (out.counterexamples.empty()) continue;
    const Counterexample& c = out.counterexamples[0];
    out.verdict = Verdict::kRefuted;
    out.reason = fmt::format("`{}[{}]` is {} in the problem and {} in the candidate (inputs: {})", c.tensor, fmt::join(c.index, ","),
                             c.problem, c.candidate, c.family);
    return true;
  }
  return false;
}

enum class Compared { kEqual, kTooLarge, kOther };

// Every tensor that differs by itself, the others as inputs. Values that were related by the definitions left out no longer
// are, so equality here means equality, a difference here nothing.
Compared compared_apart(const Program& problem, const Program& candidate, const EquivalenceOptions& options, const Deadline& deadline,
                        Equivalence& out) {
  if (!problem.opaques.empty() || !candidate.opaques.empty()) return Compared::kOther;
  const auto left = obligations(problem, candidate);
  if (!left) return Compared::kOther;
  for (const Obligation& each : *left) {
    const Program a = cone(problem, each.tensor, each.given), b = cone(candidate, each.tensor, each.given);
    if (cost_of(a) + cost_of(b) > static_cast<double>(options.most_operations)) return Compared::kTooLarge;
    Equivalence one = out;
    if (test_instance(a, b, deadline, one) || one.families == out.families) return Compared::kOther;
    out.families = one.families;
  }
  return Compared::kEqual;
}

Equivalence tested(const lang::Program& problem, const lang::Program& candidate, const EquivalenceOptions& options) {
  Equivalence out = verdict(Verdict::kUnknown, "no smaller dims were found that both programs accept");
  const Deadline deadline(options.budget);
  int instances = 0, parts = 0;
  for (int attempt = 0; attempt < kDimChoices && !deadline.passed(); ++attempt) {
    const auto dims = shrunken_dims(problem, candidate, attempt);
    Diagnostics quiet;
    const auto small_problem = bind(lang::with_dims(problem, dims), quiet);
    const auto small_candidate = bind(lang::with_dims(candidate, dims), quiet);
    if (!small_problem || !small_candidate) continue;
    out.dims = dims;
    if (cost_of(*small_problem) + cost_of(*small_candidate) > static_cast<double>(options.most_operations)) {
      const Compared apart = compared_apart(*small_problem, *small_candidate, options, deadline, out);
      if (apart == Compared::kTooLarge) out.reason = "even at shrunken dims the programs are too large to interpret";
      if (apart == Compared::kOther) out.reason = "too large to interpret whole, and not equal tensor by tensor";
      instances += apart == Compared::kEqual ? 1 : 0, parts += apart == Compared::kEqual ? 1 : 0;
      continue;
    }
    const int before = out.families;
    if (test_instance(*small_problem, *small_candidate, deadline, out)) {
      if (out.verdict == Verdict::kRefuted) return out;
      break;
    }
    instances += out.families > before ? 1 : 0;
  }
  if (instances == 0) return out;
  out.verdict = Verdict::kTested;
  out.reason = fmt::format("equal at {} shrunken sizes, {} sets of inputs{}", instances, out.families,
                           parts > 0 ? ", where the programs differ (the rest is proved)" : "");
  return out;
}

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

Equivalence same_meaning(const lang::Program& problem, const lang::Program& candidate, const EquivalenceOptions& options) {
  Diagnostics diagnostics;
  const auto a = bind(problem, diagnostics);
  if (!a) return verdict(Verdict::kUnknown, "the problem has errors");
  const auto b = bind(candidate, diagnostics);
  if (!b) return verdict(Verdict::kRefuted, "the candidate has errors");
  const std::string difference = interface_difference(*a, *b);
  if (!difference.empty()) return verdict(Verdict::kRefuted, difference);
  const bool bare = a->opaques.empty() && b->opaques.empty();
  if (const auto left = bare ? obligations(*a, *b) : std::nullopt; left && left->empty())
    return verdict(Verdict::kProved, "every output has the problem's definition");
  return tested(problem, candidate, options);
}

}  // namespace solstice::ir
