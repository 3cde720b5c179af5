#include "propose/cut/assessor.h"

#include <fmt/format.h>

namespace solstice::propose {

Assessor::Assessor(const ir::Program& problem, const Dataflow& flow, Assessed* known)
    : light_(problem, flow), flow_(flow), known_(known) {
  ir::Program& program = light_.program();
  program.kernels.resize(1);
  program.kernels[0].name = "k";
  for (size_t t = 0; t < program.tensors.size(); ++t) {
    ir::Tensor& tensor = program.tensors[t];
    if (!is_intermediate(tensor)) continue;
    tensor.kind = ir::TensorKind::kTensor;
    tensor.dtype = flow.formats[t];
  }
  declared_ = program.tensors;
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
  ir::Program& program = light_.program();
  light_.show(equations);
  place_tensors(program, flow_, equations, 0);
  ir::Kernel& kernel = program.kernels[0];
  kernel.equations = equations;
  Group best;
  best.equations = std::move(equations);
  for (const families::Family* family : families::all_families()) {
    if (!family->available || !family->match || !family->propose) continue;
    kernel.family = std::string(family->name);
    const families::Match match = family->match(program, kernel);
    if (!match.ok) {
      best.reasons.push_back(fmt::format("{}: {}", family->name, match.reason));
      continue;
    }
    const families::Context ask{program, context.machine, context.numerics, context.frozen};
    const Result<families::Cost> cost = family->cost(ask, kernel);
    if (!cost.ok()) {
      best.reasons.push_back(fmt::format("{}: {}", family->name, cost.error().message));
    } else if (!best.family || cost->time < best.cost) {
      best.family = family;
      best.cost = cost->time;
    }
  }
  restore(best.equations);
  return best;
}

void Assessor::restore(const std::vector<int>& equations) {
  light_.hide();
  ir::Program& program = light_.program();
  for (int id : equations) {
    const size_t target = static_cast<size_t>(program.equation(id).target);
    program.tensors[target] = declared_[target];
  }
}

}  // namespace solstice::propose
