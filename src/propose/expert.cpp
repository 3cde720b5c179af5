#include "propose/expert.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "propose/moves.h"

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

std::vector<std::string> Formulation::settings_of(const Choice& choice) const {
  std::vector<std::string> out;
  for (size_t a = 0; a < axes.size(); ++a) out.push_back(axes[a].kernel + " " + axes[a].options[choice[a]].text());
  return out;
}

std::optional<Choice> Formulation::choice_of(const std::vector<std::string>& settings) const {
  if (settings.size() != axes.size()) return std::nullopt;
  Choice choice(axes.size(), 0);
  for (size_t a = 0; a < axes.size(); ++a) {
    size_t o = 0;
    while (o < axes[a].options.size() && axes[a].kernel + " " + axes[a].options[o].text() != settings[a]) ++o;
    if (o == axes[a].options.size()) return std::nullopt;
    choice[a] = o;
  }
  return choice;
}

Seconds Formulation::predicted(const Choice& choice) const {
  Seconds total;
  for (size_t a = 0; a < axes.size(); ++a) total += axes[a].predicted[choice[a]];
  return total;
}

Expert::Expert(std::vector<Formulation> formulations, const std::vector<Known>& known) : formulations_(std::move(formulations)) {
  for (const Known& one : known) known_.emplace(one.program, one.time);
  for (const Formulation& formulation : formulations_) {
    const Known* fastest = nullptr;
    for (const Known& one : known) {
      if (formulation.choice_of(one.settings) && (!fastest || one.time < fastest->time)) fastest = &one;
    }
    fastest_known_.push_back(fastest ? formulation.choice_of(fastest->settings) : std::nullopt);
  }
}

Result<search::Proposal> Expert::emit(const Formulation& formulation, const Choice& choice, std::string reason) const {
  search::Proposal out;
  SOLSTICE_TRY(out.program, formulation.render(formulation.axes, choice));
  out.reason = formulation.label.empty() ? std::move(reason) : formulation.label + ": " + reason;
  out.predicted = formulation.predicted(choice);
  out.settings = formulation.settings_of(choice);
  out.equations = formulation.label;
  out.origin = "expert";
  if (const auto known = known_.find(out.program); known != known_.end()) out.known = known->second;
  return out;
}

std::optional<Expert::Place> Expert::place_of(const search::Proposal& proposal) const {
  for (const Formulation& formulation : formulations_) {
    if (formulation.label != proposal.equations) continue;
    if (std::optional<Choice> choice = formulation.choice_of(proposal.settings)) return Place{&formulation, std::move(*choice)};
  }
  return std::nullopt;
}

// Of each formulation the fastest of earlier runs, or where there is none the cost models' own choice; then the others' choice.
Result<std::optional<search::Proposal>> Expert::open(const search::Tree& tree) const {
  for (const bool first : {true, false}) {
    for (size_t i = 0; i < formulations_.size(); ++i) {
      const Formulation& formulation = formulations_[i];
      const bool known = first && fastest_known_[i];
      const Choice choice = known ? *fastest_known_[i] : Choice(formulation.axes.size(), 0);
      SOLSTICE_TRY(search::Proposal proposal,
                   emit(formulation, choice, known ? "the fastest of earlier runs here" : "the cost models' first choice"));
      if (!tree.contains(proposal.program)) return std::optional(std::move(proposal));
    }
  }
  return std::optional<search::Proposal>();
}

Result<std::optional<search::Proposal>> Expert::vary(const search::Tree& tree, int node) const {
  const std::optional<Place> place = place_of(tree.node(node).proposal);
  if (!place) return std::optional<search::Proposal>();  // somebody else's
  std::map<int, Choice> choices;                         // of nodes of this formulation
  std::vector<Tried> tried;
  for (const search::Event& event : tree.events()) {
    const bool skipped = event.kind == search::Event::Kind::kSkipped;
    if (!skipped && event.kind != search::Event::Kind::kProposed) continue;
    std::optional<Place> at = place_of(*event.proposal);
    if (!at || at->formulation != place->formulation) continue;
    Tried one{at->choice, skipped ? nullptr : &tree.node(event.node), nullptr, std::nullopt};
    if (!skipped) choices[event.node] = at->choice;
    const search::Node& parent = tree.node(event.proposal->parent);
    if (const auto found = choices.find(parent.id); found != choices.end()) one.parent = &found->second;
    if (parent.usable()) one.parent_time = parent.measurement->time;
    tried.push_back(std::move(one));
  }
  const Formulation& formulation = *place->formulation;
  for (const Move& move : moves_from(formulation.axes, place->choice, tried)) {
    Choice choice = place->choice;
    choice[move.axis] = move.option;
    const Axis& axis = formulation.axes[move.axis];
    const std::string reason =
        fmt::format("kernel {}: {}{}", axis.kernel, axis.options[move.option].text(), move.repeats ? ", which gained elsewhere" : "");
    SOLSTICE_TRY(search::Proposal proposal, emit(formulation, choice, reason));
    if (!tree.contains(proposal.program)) return std::optional(std::move(proposal));
  }
  return std::optional<search::Proposal>();
}

Result<std::optional<search::Proposal>> Expert::propose(const search::Tree& tree, int node) {
  return node == 0 ? open(tree) : vary(tree, node);
}

}  // namespace solstice::propose
