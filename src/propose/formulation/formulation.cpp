#include "propose/formulation/formulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "lang/print.h"
#include "propose/cut/form.h"
#include "propose/cut/spotlight.h"
#include "propose/facts/structure.h"
#include "propose/formulation/options.h"

namespace solstice::propose {

namespace {

Result<Axis> axis_of(const families::Context& context, ir::Kernel& kernel) {
  const families::Family* chosen = families::find_family(kernel.family);
  if (!chosen) return fail(Code::internal, fmt::format("kernel `{}` has no family `{}`", kernel.name, kernel.family));
  if (!chosen->propose) return fail(Code::not_yet, fmt::format("family `{}` has no settings to try", chosen->name));
  SOLSTICE_TRY(std::vector<Option> options, options_of(*chosen, context, kernel));
  if (options.empty()) {
    return fail(Code::internal,
                fmt::format("family `{}` runs kernel `{}` but proposes no setting", chosen->name, kernel.name));
  }
  const Seconds most = options.front().time * kDoubt;
  std::vector<Option> others = options_of_others(*chosen, context, kernel, most);
  std::move(others.begin(), others.end(), std::back_inserter(options));
  kernel.family = std::string(chosen->name);
  // The family's own choice goes first: what tells settings apart, registers that spill above all, its model does not
  // all know.
  std::stable_sort(options.begin() + 1, options.end(),
                   [](const Option& a, const Option& b) { return a.time < b.time; });
  Axis axis{kernel.name, {}, {}};
  for (Option& option : options) {
    axis.options.push_back(std::move(option.schedule));
    axis.predicted.push_back(option.time);
  }
  return axis;
}

// The axis of a kernel like one that was asked about (cut/form.h).
Result<Axis> axis_like(const Equations& equations, Spotlight& light) {
  const PlanningContext& context = equations.context;
  std::string form = light.kernel().family + " " + form_of(light.program());
  const auto known = equations.alike.find(form);
  if (known != equations.alike.end()) return known->second;
  const families::Context ask{light.program(), context.machine, context.numerics, context.frozen};
  SOLSTICE_TRY(Axis axis, axis_of(ask, light.kernel()));
  return equations.alike.emplace(std::move(form), std::move(axis)).first->second;
}

// As axes_of(); an axis depends on nothing but its kernel's equations.
Result<std::vector<Axis>> known_axes(const Equations& equations, const ir::Program& scheduled, const Partition& cut,
                                     const StopTest& stop) {
  const Dataflow flow(scheduled);
  Spotlight light(scheduled, flow);
  std::vector<Axis> out;
  for (size_t k = 0; k < scheduled.kernels.size(); ++k) {
    const ir::Kernel& kernel = scheduled.kernels[k];
    auto found = equations.axes.find(kernel.equations);
    if (found == equations.axes.end() && is_asked(stop)) {
      out.push_back({kernel.name, {Schedule{kernel.family, {}}}, {cut.groups[k].cost}});
      continue;
    }
    if (found == equations.axes.end()) {
      light.show(kernel.equations);
      light.kernel().name = kernel.name;
      light.kernel().family = kernel.family;
      SOLSTICE_TRY(Axis axis, axis_like(equations, light));
      found = equations.axes.emplace(kernel.equations, std::move(axis)).first;
    }
    out.push_back(found->second);
    out.back().kernel = kernel.name;
  }
  return out;
}

std::vector<Structure> known_structures(const Equations& equations, const ir::Program& scheduled) {
  std::vector<Structure> out;
  for (const ir::Kernel& kernel : scheduled.kernels) {
    auto found = equations.structures.find(kernel.equations);
    if (found == equations.structures.end())
      found = equations.structures.emplace(kernel.equations, structure_of(scheduled, kernel.equations)).first;
    out.push_back(found->second);
  }
  return out;
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

std::string cut_text(const Partition& cut) {
  std::string out;
  for (const Group& group : cut.groups)
    out += fmt::format("{}{}", out.empty() ? "" : " | ", fmt::join(group.equations, " "));
  return out;
}

Result<Partition> parse_cut(const std::string& text, const Equations& equations) {
  const ir::Program& problem = equations.text->program;
  std::vector<std::vector<int>> groups(1);
  std::vector<char> seen(problem.equations.size(), 0);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (word == "|") {
      groups.emplace_back();
      continue;
    }
    const bool number = word.find_first_not_of("0123456789") == std::string::npos && word.size() < 9;
    const size_t id = number ? static_cast<size_t>(std::stoi(word)) : seen.size();
    if (id >= seen.size() || seen[id])
      return fail(Code::bad_argument, fmt::format("cut `{}`: `{}` is no equation, or twice there", text, word));
    seen[id] = 1;
    groups.back().push_back(static_cast<int>(id));
  }
  const bool whole = std::all_of(seen.begin(), seen.end(), [](char c) { return c != 0; });
  const bool filled = std::all_of(groups.begin(), groups.end(), [](const auto& g) { return !g.empty(); });
  if (!whole || !filled)
    return fail(Code::bad_argument, fmt::format("cut `{}` does not hold each of {} equations", text, seen.size()));
  return cut_as(problem, groups, equations.context, &equations.assessed);
}

std::vector<Recut> recuts(const Formulation& from) {
  return recuts(from.equations->text->program, from.cut, from.equations->context, &from.equations->assessed);
}

Result<Formulation> formulate(std::shared_ptr<const Equations> equations, Partition cut, const StopTest& stop) {
  const PlanningContext& context = equations->context;
  Formulation out;
  out.scheduled = std::make_shared<const ir::Program>(apply(equations->text->program, cut));
  SOLSTICE_TRY(out.axes, known_axes(*equations, *out.scheduled, cut, stop));
  out.structures = known_structures(*equations, *out.scheduled);
  const CandidateText how{context.machine.name, context.numerics, context.frozen};
  out.render = [equations, how, scheduled = out.scheduled](const std::vector<Axis>& all,
                                                           const Choice& choice) -> Result<std::string> {
    std::vector<Schedule> schedules;
    for (size_t a = 0; a < all.size(); ++a) schedules.push_back(all[a].options[choice[a]]);
    SOLSTICE_TRY(const lang::Program text, render(equations->text->tree, *scheduled, schedules, how));
    return lang::print(text);
  };
  out.equations = std::move(equations);
  out.cut = std::move(cut);
  return out;
}

}  // namespace solstice::propose
