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

Expert::Expert(std::vector<Axis> axes, Render render, const std::vector<Known>& known)
    : axes_(std::move(axes)), render_(std::move(render)), first_(axes_.size(), 0), tried_(axes_.size(), 0) {
  const Known* fastest = nullptr;
  for (const Known& one : known) {
    known_.emplace(one.program, one.time);
    if (choice_of(one.settings) && (!fastest || one.time < fastest->time)) fastest = &one;
  }
  if (fastest) opening_ = fastest->settings;
}

std::vector<std::string> Expert::settings_of(const Choice& choice) const {
  std::vector<std::string> out;
  for (size_t a = 0; a < axes_.size(); ++a) out.push_back(axes_[a].kernel + " " + ir::to_text(axes_[a].options[choice[a]]));
  return out;
}

// Nothing where a kernel has another name or no longer such a setting.
std::optional<Choice> Expert::choice_of(const std::vector<std::string>& settings) const {
  if (settings.size() != axes_.size()) return std::nullopt;
  Choice choice(axes_.size(), 0);
  for (size_t a = 0; a < axes_.size(); ++a) {
    size_t o = 0;
    while (o < axes_[a].options.size() && axes_[a].kernel + " " + ir::to_text(axes_[a].options[o]) != settings[a]) ++o;
    if (o == axes_[a].options.size()) return std::nullopt;
    choice[a] = o;
  }
  return choice;
}

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
  search::Proposal proposal{text, std::move(reason), predicted(choice), parent, settings_of(choice)};
  if (const auto known = known_.find(text); known != known_.end()) proposal.known = known->second;
  choices_.emplace(std::move(text), std::move(choice));
  return std::optional(std::move(proposal));
}

// The fastest of earlier runs first, then the cost models' own choice.
Result<std::optional<search::Proposal>> Expert::open(const search::Tree& tree) {
  if (const std::optional<Choice> known = choice_of(opening_)) {
    first_ = *known;
    return emit(tree, first_, -1, "the fastest of earlier runs here");
  }
  tried_.assign(axes_.size(), 1);
  return emit(tree, first_, -1, "the cost models' first choice");
}

Result<std::optional<search::Proposal>> Expert::propose(const search::Tree& tree) {
  if (choices_.empty()) return open(tree);
  const search::Node* best = tree.best();
  const auto known = best ? choices_.find(best->proposal.program) : choices_.end();
  const Choice base = known != choices_.end() ? known->second : first_;
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
