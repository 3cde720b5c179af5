#include "propose/cut/assessor.h"

#include <fmt/format.h>

#include <utility>

#include "propose/cut/form.h"

namespace solstice::propose {

Assessor::Assessor(const ir::Program& problem, const Dataflow& flow, Assessed* known)
    : program_(problem), flow_(flow), light_(program_, flow), known_(known) {
  for (size_t t = 0; t < program_.tensors.size(); ++t) {
    ir::Tensor& tensor = program_.tensors[t];
    if (!is_intermediate(tensor)) continue;
    tensor.kind = ir::TensorKind::kTensor;
    tensor.dtype = flow.formats[t];
  }
  declared_ = program_.tensors;
}

Group Assessor::assess(std::vector<int> equations, const PlanningContext& context) {
  if (!known_) return ask(std::move(equations), context);
  const auto found = known_->find(equations);
  if (found != known_->end()) return found->second;
  Group out = ask(equations, context);
  known_->emplace(std::move(equations), out);
  return out;
}

Group Assessor::ask(std::vector<int> equations, const PlanningContext& context) {
  place_tensors(program_, flow_, equations, 0);
  light_.show(equations);
  restore(equations);
  std::string form = form_of(light_.program());
  const auto alike = alike_.find(form);
  if (alike != alike_.end()) return {std::move(equations), alike->second.family, alike->second.cost, {}};
  Group best = cheapest(context);
  best.equations = std::move(equations);
  if (best.family) alike_.emplace(std::move(form), Answer{best.family, best.cost});  // else reasons have names
  return best;
}

// Of the kernel that is shown. A family is asked whether it can write the kernel only where it would be the cheapest.
Group Assessor::cheapest(const PlanningContext& context) {
  const families::Context ask{light_.program(), context.machine, context.numerics, context.frozen};
  ir::Kernel& kernel = light_.kernel();
  Group best;
  for (const families::Family* family : families::all_families()) {
    if (!family->available || !family->match || !family->propose) continue;
    kernel.family = std::string(family->name);
    const Result<families::Cost> cost = family->cost(ask, kernel);
    if (!cost.ok()) {
      best.reasons.push_back(fmt::format("{}: {}", family->name, cost.error().sentence()));
      continue;
    }
    if (best.family && cost->time >= best.cost) continue;
    const families::Match match = family->match(ask.program, kernel);
    if (match.ok)
      best.family = family, best.cost = cost->time;
    else
      best.reasons.push_back(fmt::format("{}: {}", family->name, match.reason));
  }
  return best;
}

void Assessor::restore(const std::vector<int>& equations) {
  for (int id : equations) {
    const size_t target = static_cast<size_t>(program_.equation(id).target);
    program_.tensors[target] = declared_[target];
  }
}

}  // namespace solstice::propose
