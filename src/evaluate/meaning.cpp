#include "evaluate/meaning.h"

#include "lang/print.h"

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

}  // namespace

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
  return known_.emplace(equations, ir::same_meaning(problem_, candidate, options)).first->second;
}

}  // namespace solstice::evaluate
