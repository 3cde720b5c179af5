#include "propose/cut/assessor.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace solstice::propose {

Assessor::Assessor(const ir::Program& problem, const Dataflow& flow, Assessed* known)
    : program_(problem), flow_(flow), known_(known) {
  program_.kernels.resize(1);
  program_.kernels[0].name = "k";
  for (size_t t = 0; t < program_.tensors.size(); ++t) {
    ir::Tensor& tensor = program_.tensors[t];
    if (!is_intermediate(tensor)) continue;
    tensor.kind = ir::TensorKind::kTensor;
    tensor.dtype = flow.formats[t];
  }
  declared_ = program_.tensors;
  for (ir::Equation& equation : program_.equations) sides_.push_back(std::exchange(equation.rhs, hidden_));
}

Group Assessor::assess(std::vector<int> equations, const PlanningContext& context) {
  if (!known_) return ask(std::move(equations), context);
  const auto found = known_->find(equations);
  if (found != known_->end()) return found->second;
  Group out = ask(equations, context);
  known_->emplace(std::move(equations), out);
  return out;
}

void Assessor::show(int equation) {
  program_.equations[static_cast<size_t>(equation)].rhs = sides_[static_cast<size_t>(equation)];
  shown_.push_back(equation);
}

// The group's own, and one reader elsewhere of each of its tensors.
void Assessor::show(const std::vector<int>& equations) {
  const std::set<int> own(equations.begin(), equations.end());
  std::set<int> targets;
  for (const int id : equations) {
    show(id);
    targets.insert(program_.equation(id).target);
  }
  for (const int target : targets) {
    const std::vector<int>& readers = flow_.readers[static_cast<size_t>(target)];
    const auto other = std::find_if(readers.begin(), readers.end(), [&](int id) { return !own.contains(id); });
    if (other != readers.end()) show(*other);
  }
}

Group Assessor::ask(std::vector<int> equations, const PlanningContext& context) {
  show(equations);
  place_tensors(program_, flow_, equations, 0);
  ir::Kernel& kernel = program_.kernels[0];
  kernel.equations = equations;
  Group best;
  best.equations = std::move(equations);
  for (const families::Family* family : families::all_families()) {
    if (!family->available || !family->match || !family->propose) continue;
    kernel.family = std::string(family->name);
    const families::Match match = family->match(program_, kernel);
    if (!match.ok) {
      best.reasons.push_back(fmt::format("{}: {}", family->name, match.reason));
      continue;
    }
    const families::Context ask{program_, context.machine, context.numerics, context.frozen};
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
  for (const int id : shown_) program_.equations[static_cast<size_t>(id)].rhs = hidden_;
  shown_.clear();
  for (int id : equations) {
    const size_t target = static_cast<size_t>(program_.equation(id).target);
    program_.tensors[target] = declared_[target];
  }
}

}  // namespace solstice::propose
