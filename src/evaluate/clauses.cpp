#include "evaluate/clauses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "evaluate/meaning.h"
#include "machine/machine.h"
#include "numerics/policy.h"

namespace solstice::evaluate {
namespace {

void check_target(const std::string& name, Span span, Diagnostics& diagnostics) {
  const auto machines = machine::list_machines();
  if (!machines.ok() || std::find(machines->begin(), machines->end(), name) != machines->end()) return;
  const std::string near = closest(name, *machines);
  diagnostics.error(
      "E008", span, fmt::format("no machine `{}`", name),
      near.empty() ? fmt::format("there are `{}`", fmt::join(*machines, "`, `")) : fmt::format("closest: `{}`", near));
}

// A program may not loosen what the run or the problem asks. Frozen weights are the run's (`--weights frozen`).
void check_permissions(const lang::Clause& clause, Span span, const Meaning& meaning, Diagnostics& diagnostics) {
  for (const std::string& name : clause.names) {
    if (name == "frozen" || meaning.allowed().contains(name)) continue;
    diagnostics.error("E016", span, fmt::format("`allow {}` is looser than the problem, which does not have it", name),
                      "remove it: only the problem grants permissions");
  }
}

// The run's policy is not for the program to loosen.
void check_policy(const std::string& name, const std::string& run, Span span, Diagnostics& diagnostics) {
  const auto wanted = numerics::policy_from_name(name), of_run = numerics::policy_from_name(run);
  if (!wanted || !of_run || *wanted <= *of_run) return;
  diagnostics.error("E016", span, fmt::format("`numerics {}` is looser than this run's `{}`", name, run),
                    fmt::format("remove it: the policy belongs to the run (`--numerics {}`)", name));
}

}  // namespace

void check_clauses(const lang::Program& tree, const std::string& run_policy, const Meaning* problem,
                   Diagnostics& diagnostics) {
  for (const lang::Item& item : tree.items) {
    const auto* const clause = std::get_if<lang::Clause>(&item.node);
    if (!clause) continue;
    if (clause->kind == lang::Clause::Kind::kTarget) check_target(clause->names[0], item.span, diagnostics);
    if (clause->kind == lang::Clause::Kind::kAllow && problem)
      check_permissions(*clause, item.span, *problem, diagnostics);
    if (clause->kind == lang::Clause::Kind::kNumerics)
      check_policy(clause->names[0], run_policy, item.span, diagnostics);
  }
}

}  // namespace solstice::evaluate
