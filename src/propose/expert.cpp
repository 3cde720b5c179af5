#include "propose/expert.h"

#include <fmt/format.h>

namespace solstice::propose {

Result<std::vector<Axis>> axes_of(const ir::Program& scheduled, const PlanningContext& context) {
  ir::Program scratch = scheduled;
  const families::Context ask{scratch, context.machine, context.numerics, context.frozen};
  std::vector<Axis> axes;
  for (ir::Kernel& kernel : scratch.kernels) {
    const families::Family* family = families::find_family(kernel.family);
    if (!family) return fail(Code::internal, fmt::format("kernel `{}` has no family `{}`", kernel.name, kernel.family));
    Axis axis;
    axis.kernel = kernel.name;
    SOLSTICE_TRY(axis.options, family->propose(ask, kernel));
    if (axis.options.empty()) {
      return fail(Code::internal, fmt::format("family `{}` runs kernel `{}` but proposes no setting", family->name, kernel.name));
    }
    for (const ir::Knobs& option : axis.options) {
      kernel.knobs = option;
      SOLSTICE_TRY(const families::Cost cost, family->cost(ask, kernel));
      axis.predicted.push_back(cost.time);
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

Expert::Expert(std::vector<Axis> axes, Render render)
    : axes_(std::move(axes)), render_(std::move(render)), tried_(axes_.size(), 0) {}

Seconds Expert::predicted(const Choice& choice) const {
  Seconds total;
  for (size_t a = 0; a < axes_.size(); ++a) total += axes_[a].predicted[choice[a]];
  return total;
}

// The axis with the least trials for its share of the time.
size_t Expert::next_axis() const {
  size_t best = axes_.size();
  double best_score = 0;
  for (size_t a = 0; a < axes_.size(); ++a) {
    if (tried_[a] >= axes_[a].options.size()) continue;
    const double score = axes_[a].predicted[0].value / static_cast<double>(tried_[a]);
    if (best == axes_.size() || score > best_score) {
      best = a;
      best_score = score;
    }
  }
  return best;
}

Result<std::optional<search::Proposal>> Expert::emit(const search::Tree& tree, Choice choice, int parent, std::string reason) {
  SOLSTICE_TRY(std::string text, render_(axes_, choice));
  if (tree.contains(text)) return std::optional<search::Proposal>();
  search::Proposal proposal{text, std::move(reason), predicted(choice), parent};
  choices_.emplace(std::move(text), std::move(choice));
  return std::optional(std::move(proposal));
}

Result<std::optional<search::Proposal>> Expert::propose(const search::Tree& tree) {
  if (choices_.empty()) {
    tried_.assign(axes_.size(), 1);
    return emit(tree, Choice(axes_.size(), 0), -1, "the cost models' first choice");
  }
  const search::Node* best = tree.best();
  const auto known = best ? choices_.find(best->proposal.program) : choices_.end();
  const Choice base = known != choices_.end() ? known->second : Choice(axes_.size(), 0);
  for (size_t axis = next_axis(); axis < axes_.size(); axis = next_axis()) {
    Choice choice = base;
    choice[axis] = tried_[axis]++;
    const std::string reason = fmt::format("kernel {}: {}", axes_[axis].kernel, ir::to_text(axes_[axis].options[choice[axis]]));
    SOLSTICE_TRY(std::optional<search::Proposal> proposal, emit(tree, std::move(choice), best ? best->id : -1, reason));
    if (proposal) return proposal;
  }
  return std::optional<search::Proposal>();
}

}  // namespace solstice::propose
