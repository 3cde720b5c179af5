#include "propose/expert.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace solstice::propose {

namespace {

// Cost models are wrong by less than this: a schedule of another family that they find slower by more is not tried.
constexpr double kDoubt = 1.5;

struct Option {
  Schedule schedule;
  Seconds time;
};

// What `family` proposes for the kernel, timed by its model.
Result<std::vector<Option>> options_of(const families::Family& family, const families::Context& context, ir::Kernel& kernel) {
  kernel.family = std::string(family.name);
  kernel.knobs = {};
  SOLSTICE_TRY(const std::vector<ir::Knobs> proposed, family.propose(context, kernel));
  std::vector<Option> out;
  for (const ir::Knobs& knobs : proposed) {
    kernel.knobs = knobs;
    SOLSTICE_TRY(const families::Cost cost, family.cost(context, kernel));
    out.push_back({{kernel.family, knobs}, cost.time});
  }
  return out;
}

bool can_run(const families::Family& family, const ir::Program& program, const ir::Kernel& kernel) {
  if (!family.available || !family.match) return false;
  const families::Match match = family.match(program, kernel);
  return match.ok && match.built;
}

Result<Axis> axis_of(const families::Context& context, ir::Kernel& kernel) {
  const families::Family* chosen = families::find_family(kernel.family);
  if (!chosen) return fail(Code::internal, fmt::format("kernel `{}` has no family `{}`", kernel.name, kernel.family));
  SOLSTICE_TRY(std::vector<Option> options, options_of(*chosen, context, kernel));
  if (options.empty()) {
    return fail(Code::internal, fmt::format("family `{}` runs kernel `{}` but proposes no setting", chosen->name, kernel.name));
  }
  const Seconds most = options.front().time * kDoubt;
  for (const families::Family* other : families::all_families()) {
    if (other == chosen || !can_run(*other, context.program, kernel)) continue;
    const Result<std::vector<Option>> more = options_of(*other, context, kernel);
    if (!more.ok()) continue;  // it matches but has no legal setting here
    std::copy_if(more->begin(), more->end(), std::back_inserter(options), [&](const Option& o) { return o.time <= most; });
  }
  kernel.family = std::string(chosen->name);
  // The family's own choice goes first: what tells settings apart, registers that spill above all, its model does not all know.
  std::stable_sort(options.begin() + 1, options.end(), [](const Option& a, const Option& b) { return a.time < b.time; });
  Axis axis{kernel.name, {}, {}};
  for (Option& option : options) {
    axis.options.push_back(std::move(option.schedule));
    axis.predicted.push_back(option.time);
  }
  return axis;
}

}  // namespace

Result<std::vector<Axis>> axes_of(const ir::Program& scheduled, const PlanningContext& context) {
  ir::Program scratch = scheduled;
  const families::Context ask{scratch, context.machine, context.numerics, context.frozen};
  std::vector<Axis> axes;
  for (ir::Kernel& kernel : scratch.kernels) {
    SOLSTICE_TRY(Axis axis, axis_of(ask, kernel));
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
  for (size_t a = 0; a < axes_.size(); ++a) out.push_back(axes_[a].kernel + " " + axes_[a].options[choice[a]].text());
  return out;
}

// Nothing where a kernel has another name or no longer such a setting.
std::optional<Choice> Expert::choice_of(const std::vector<std::string>& settings) const {
  if (settings.size() != axes_.size()) return std::nullopt;
  Choice choice(axes_.size(), 0);
  for (size_t a = 0; a < axes_.size(); ++a) {
    size_t o = 0;
    while (o < axes_[a].options.size() && axes_[a].kernel + " " + axes_[a].options[o].text() != settings[a]) ++o;
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
    const std::string reason = fmt::format("kernel {}: {}", axes_[axis].kernel, axes_[axis].options[choice[axis]].text());
    SOLSTICE_TRY(std::optional<search::Proposal> proposal, emit(tree, std::move(choice), best ? best->id : -1, reason));
    if (proposal) return proposal;
  }
  return std::optional<search::Proposal>();
}

}  // namespace solstice::propose
