#include "propose/formulation/written.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <variant>

#include "families/space.h"
#include "lang/parse.h"
#include "lang/print.h"
#include "propose/facts/structure.h"
#include "propose/formulation/options.h"

namespace solstice::propose {
namespace {

bool is_legal(const families::Context& context, ir::Kernel kernel) {
  const families::Family& family = *families::find_family(kernel.family);
  Diagnostics diagnostics;
  kernel.knobs = families::check_knobs(family, kernel, {}, diagnostics);
  families::check_required(family, kernel, diagnostics);
  if (!diagnostics.has_errors()) families::check_rules_of(family, context, kernel, diagnostics);
  return !diagnostics.has_errors();
}

// The code of a kernel under its clause; "" where that cannot be said.
std::string code_of(const families::Context& context, const ir::Kernel& kernel) {
  const families::Family& family = *families::find_family(kernel.family);
  if (!family.generate) return "";
  const Result<families::Emission> made = family.generate(context, kernel);
  if (!made.ok()) return "";
  std::string out;
  for (const families::Source& source : made->sources)
    out += fmt::format("{}\n{}\n", source.code, fmt::join(source.options, " "));
  for (const Step& step : made->steps) out += to_json(step).dump();
  for (const PlanBuffer& buffer : made->workspace) out += to_json(buffer).dump();
  return out;
}

// The expert may change its clause: it stands in the program itself, not in a definition, and families propose
// others.
bool is_free(const ir::Kernel& kernel, const families::Family& family) {
  return kernel.instance.empty() && family.propose;
}

// Options that are legal in this program and not the written one in other words, the fastest first.
void add_others(const families::Context& context, const ir::Kernel& written, Seconds time, ir::Kernel& kernel,
                Axis& out) {
  const families::Family& family = *families::find_family(written.family);
  const std::string code = code_of(context, written);
  const Result<std::vector<Option>> own = options_of(family, context, kernel);
  std::vector<Option> options =
      own.ok() ? *own : std::vector<Option>();  // without any it runs as it is written, and other families may
  for (const Option& option : options) time = std::min(time, option.time);
  std::vector<Option> others = options_of_others(family, context, kernel, time * kDoubt);
  std::move(others.begin(), others.end(), std::back_inserter(options));
  std::stable_sort(options.begin(), options.end(), [](const Option& a, const Option& b) { return a.time < b.time; });
  for (Option& option : options) {
    kernel.family = option.schedule.family;
    kernel.knobs = option.schedule.knobs;
    if (option.schedule.text() == out.options[0].text() || !is_legal(context, kernel)) continue;
    if (!code.empty() && code_of(context, kernel) == code) continue;
    out.options.push_back(std::move(option.schedule));
    out.predicted.push_back(option.time);
  }
}

// `kernel` is of `context`'s program, and is as it was afterwards.
Result<Axis> written_axis(const families::Context& context, ir::Kernel& kernel) {
  const families::Family* const family = families::find_family(kernel.family);
  if (!family || !family->cost) return fail(Code::not_yet, fmt::format("no cost model for family `{}`", kernel.family));
  SOLSTICE_TRY(const families::Cost cost, family->cost(context, kernel));
  Axis out{kernel.name, {{kernel.family, kernel.knobs}}, {cost.time}};
  if (!is_free(kernel, *family)) return out;
  const ir::Kernel written = kernel;
  add_others(context, written, cost.time, kernel, out);
  kernel = written;
  return out;
}

Result<std::string> with_clauses(lang::Program tree, const std::vector<Axis>& axes, const Choice& choice) {
  for (size_t a = 0; a < axes.size(); ++a) {
    if (choice[a] == 0) continue;
    const Schedule& schedule = axes[a].options[choice[a]];
    lang::Kernel* const kernel = lang::find_kernel(tree, axes[a].kernel);
    Diagnostics diagnostics;
    std::vector<lang::Knob> knobs = lang::parse_knobs(ir::to_text(schedule.knobs), diagnostics);
    if (!kernel || diagnostics.has_errors()) {
      return fail(Code::internal,
                  fmt::format("`{}` cannot be written at kernel `{}`", schedule.text(), axes[a].kernel));
    }
    kernel->family = schedule.family;
    kernel->knobs = std::move(knobs);
  }
  return lang::print(tree);
}

void drop_comments(std::vector<lang::Item>& items);

void drop_comments(lang::Item& item) {
  item.before.clear();
  item.after.clear();
  const auto inside = [](auto& block) {
    block.tail.clear();
    drop_comments(block.items);
  };
  if (auto* kernel = std::get_if<lang::Kernel>(&item.node)) inside(*kernel);
  if (auto* def = std::get_if<lang::Def>(&item.node)) inside(*def);
}

void drop_comments(std::vector<lang::Item>& items) {
  for (lang::Item& item : items) drop_comments(item);
}

}  // namespace

Result<Formulation> formulate_written(const std::string& program, std::string label, const PlanningContext& context) {
  SOLSTICE_TRY(ir::BoundText written, ir::bound_text(program, "candidate.ucut"));
  if (written.program.kernels.empty()) return fail(Code::bad_argument, "the program has no kernels");
  Formulation out;
  out.label = std::move(label);
  ir::Program& scratch = written.program;
  const families::Context ask{scratch, context.machine, context.numerics, context.frozen};
  for (ir::Kernel& kernel : scratch.kernels) {
    SOLSTICE_TRY(Axis axis, written_axis(ask, kernel));
    out.axes.push_back(std::move(axis));
    out.structures.push_back(structure_of(scratch, kernel.equations));
  }
  out.scheduled = std::make_shared<const ir::Program>(std::move(written.program));
  out.render = [program, tree = std::move(written.tree)](const std::vector<Axis>& axes,
                                                         const Choice& choice) -> Result<std::string> {
    const bool as_written = std::all_of(choice.begin(), choice.end(), [](size_t option) { return option == 0; });
    return as_written ? Result<std::string>(program) : with_clauses(tree, axes, choice);
  };
  return out;
}

std::string without_comments(const std::string& program) {
  Diagnostics diagnostics;
  lang::Program tree = lang::parse(program, diagnostics);
  if (diagnostics.has_errors()) return program;
  tree.before.clear();
  tree.after.clear();
  tree.tail.clear();
  drop_comments(tree.items);
  return lang::print(tree);
}

}  // namespace solstice::propose
