// Families that are declared but not built: their clauses parse and check against their knob table, compiling one
// answers not_yet with the families that are built.
#pragma once

#include "families/family.h"

namespace solstice::families {

Match declared_match(const ir::Program& program, const ir::Kernel& kernel);
Result<Cost> declared_cost(const Context& context, const ir::Kernel& kernel);
Result<std::vector<Proposed>> declared_propose(const Context& context, const ir::Kernel& kernel);
Result<Emission> declared_generate(const Context& context, const ir::Kernel& kernel);

constexpr Family declared_family(std::string_view name, std::string_view help, const std::vector<KnobSpec>& (*knobs)(),
                                 void (*check)(const Context&, const ir::Kernel&, Diagnostics&) = nullptr,
                                 std::vector<RuleText> (*rules)() = nullptr) {
  return {.name = name,
          .help = help,
          .available = false,
          .knobs = knobs,
          .match = declared_match,
          .check = check,
          .rules = rules,
          .cost = declared_cost,
          .propose = declared_propose,
          .generate = declared_generate};
}

}  // namespace solstice::families
