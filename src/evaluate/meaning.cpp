#include "evaluate/meaning.h"

#include <algorithm>

#include "lang/print.h"
#include "lang/rename.h"

namespace solstice::evaluate {
namespace {

// The candidate without what cannot change its meaning: clauses, sources, families and knobs.
std::string equations_of(lang::Program program) {
  std::erase_if(program.items, [](const lang::Item& item) {
    return std::holds_alternative<lang::Clause>(item.node) || std::holds_alternative<lang::Source>(item.node);
  });
  for (lang::Item& item : program.items) {
    if (auto* kernel = std::get_if<lang::Kernel>(&item.node)) {
      kernel->family = "map";
      kernel->knobs.clear();
    }
  }
  return lang::print(program);
}

bool is_double(const lang::Program& program) {
  return std::any_of(program.items.begin(), program.items.end(), [](const lang::Item& item) {
    const auto* decl = std::get_if<lang::Decl>(&item.node);
    return decl && decl->type.dtype == "f64";
  });
}

}  // namespace

ir::Equivalence same_equations(const lang::Program& problem, const lang::Program& candidate,
                               const ir::EquivalenceOptions& options) {
  ir::Equivalence found = ir::same_meaning(problem, candidate, options);
  if (found.verdict != ir::Verdict::kRefuted || is_double(problem) || is_double(candidate)) return found;
  ir::Equivalence rounded =
      ir::same_meaning(lang::with_f32_numbers(problem), lang::with_f32_numbers(candidate), options);
  if (rounded.verdict == ir::Verdict::kRefuted) return found;
  rounded.reason += "; numbers are taken as f32 holds them";
  return rounded;
}

Meaning::Meaning(lang::Program problem, Seconds budget) : problem_(std::move(problem)), budget_(budget) {
  for (const lang::Item& item : problem_.items) {
    const auto* clause = std::get_if<lang::Clause>(&item.node);
    if (clause && clause->kind == lang::Clause::Kind::kAllow)
      allowed_.insert(clause->names.begin(), clause->names.end());
  }
}

const ir::Equivalence& Meaning::of(const lang::Program& candidate) {
  const std::string equations = equations_of(candidate);
  const auto known = known_.find(equations);
  if (known != known_.end()) return known->second;
  ir::EquivalenceOptions options;
  options.budget = budget_;
  options.point_operations = 20'000'000;  // operations that half of a tenth of a second interprets
  options.most_operations = 2'000'000;
  return known_.emplace(equations, same_equations(problem_, candidate, options)).first->second;
}

}  // namespace solstice::evaluate
