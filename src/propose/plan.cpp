#include "propose/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/print.h"

namespace solstice::propose {

std::string Plan::text() const {
  constexpr size_t kNamed = 6;
  const size_t count = scheduled->kernels.size();
  std::string kernels;
  for (size_t k = 0; k < std::min(kNamed, count); ++k) kernels += (kernels.empty() ? "" : ", ") + scheduled->kernels[k].name;
  return fmt::format("{} {}: {}{}", count, count == 1 ? "kernel" : "kernels", kernels, count > kNamed ? ", ..." : "");
}

Result<Plan> plan(std::shared_ptr<const ir::BoundText> equations, const PlanningContext& context, const std::vector<Known>& known) {
  SOLSTICE_TRY(const Partition parts, partition(equations->program, context));
  Plan out;
  for (const Group& group : parts.groups) out.cost += group.cost;
  out.scheduled = std::make_shared<const ir::Program>(apply(equations->program, parts));
  SOLSTICE_TRY(std::vector<Axis> axes, axes_of(*out.scheduled, context));
  const CandidateText how{context.machine.name, context.numerics, context.frozen};
  const Render as_text = [equations, how, scheduled = out.scheduled](const std::vector<Axis>& all,
                                                                     const Choice& choice) -> Result<std::string> {
    std::vector<Schedule> schedules;
    for (size_t a = 0; a < all.size(); ++a) schedules.push_back(all[a].options[choice[a]]);
    SOLSTICE_TRY(const lang::Program text, render(equations->tree, *scheduled, schedules, how));
    return lang::print(text);
  };
  out.expert = std::make_unique<Expert>(std::move(axes), as_text, known);
  return out;
}

}  // namespace solstice::propose
