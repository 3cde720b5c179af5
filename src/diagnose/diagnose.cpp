#include "diagnose/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "diagnose/external.h"
#include "diagnose/readings.h"
#include "diagnose/settle.h"

namespace solstice::diagnose {
namespace {

// The first source of the tool that is not there.
std::optional<SourceState> missing_source(const Facts& facts, const Tool& tool,
                                          const std::vector<std::string>& without) {
  for (const std::string& name : tool.sources) {
    const auto found = std::find_if(facts.sources.begin(), facts.sources.end(),
                                    [&](const SourceState& source) { return source.name == name; });
    if (is_among(without, name) || found == facts.sources.end()) return SourceState{name, false, "it was left out", ""};
    if (!found->there) return *found;
  }
  return std::nullopt;
}

bool looks_at(const Tool& tool, Class limited) {
  return tool.classes.empty() || limited == Class::kMixed ||
         std::find(tool.classes.begin(), tool.classes.end(), limited) != tool.classes.end();
}

ProgramView view_of(const Facts& facts, const machine::Machine& machine, const Diagnosis& classes,
                    const DiagnoseOptions& options) {
  ProgramView out{facts, machine, {}};
  Seconds sum;
  bool timed = true;  // else the call's time and the kernels' are not of one kind
  for (const KernelSheet& kernel : facts.kernels) {
    if (kernel.once) continue;
    sum += kernel.measured.value_or(kernel.predicted.value_or(Seconds(0)));
    timed = timed && kernel.measured;
  }
  const Seconds whole = timed ? std::max(sum, out.time()) : sum;
  const bool multiplies = std::any_of(facts.kernels.begin(), facts.kernels.end(), [](const KernelSheet& kernel) {
    return std::any_of(kernel.needs.begin(), kernel.needs.end(),
                       [](const ResourceNeed& need) { return need.resource.starts_with("tensor."); });
  });
  const auto products = multiplies ? product_shapes(facts.program) : std::map<std::string, ProductShape>();
  for (size_t i = 0; i < facts.kernels.size(); ++i) {
    KernelView view{facts, facts.kernels[i], machine, classes.kernels[i].second.of(), 0};
    if (!view.kernel.once && whole.value > 0) view.share = view.time() / whole;
    const auto product = products.find(view.kernel.kernel);
    if (product != products.end()) view.product = product->second;
    view.legal = &options.legal;
    out.kernels.push_back(view);
  }
  return out;
}

Result<std::vector<Finding>> findings_of_tool(const Tool& tool, const ProgramView& view) {
  if (tool.elsewhere) return tool.elsewhere(view.facts);
  std::vector<Finding> out;
  if (tool.of_program) {
    tool.of_program(tool, view, out);
    return out;
  }
  for (const KernelView& kernel : view.kernels) {
    if (!kernel.kernel.once && looks_at(tool, kernel.limited)) tool.of_kernel(tool, kernel, out);
  }
  return out;
}

// One question for all kernels that are open for the same reason.
void add_open_steps(const Tool& tool, const ProgramView& view, std::vector<OpenQuestion>& out) {
  std::vector<OpenQuestion> all;
  for (const KernelView& kernel : view.kernels) {
    if (kernel.kernel.once || !tool.of_kernel || !looks_at(tool, kernel.limited)) continue;
    for (OpenQuestion& open : open_steps(tool, kernel)) {
      const auto same = std::find_if(all.begin(), all.end(), [&](const OpenQuestion& other) {
        return other.source == open.source && other.why == open.why;
      });
      if (same == all.end())
        all.push_back(std::move(open));
      else
        same->steps.insert(same->steps.end(), open.steps.begin(), open.steps.end());
    }
  }
  std::move(all.begin(), all.end(), std::back_inserter(out));
}

void check_actions(const DiagnoseOptions& options, Finding& finding) {
  for (FindingAction& action : finding.actions) {
    if (action.kind == ActionKind::kText || action.kind == ActionKind::kCode) continue;
    if (options.legal && options.legal(action)) continue;
    action = {ActionKind::kText, action.text, action.kernel, {}, ""};
  }
  std::stable_sort(finding.actions.begin(), finding.actions.end(), [](const auto& a, const auto& b) {
    return (a.kind != ActionKind::kText) > (b.kind != ActionKind::kText);
  });
}

size_t most_findings_of(const Facts& facts, const DiagnoseOptions& options) {
  size_t steps = 0;
  for (const KernelSheet& kernel : facts.kernels) steps += kernel.steps.size();
  return options.most_findings + options.most_of_step * steps;
}

bool has_step(const ProgramView& view, const std::string& kernel, const std::string& step) {
  return std::any_of(view.kernels.begin(), view.kernels.end(), [&](const KernelView& each) {
    if (!kernel.empty() && each.kernel.kernel != kernel) return false;
    const auto& steps = each.kernel.steps;
    return std::any_of(steps.begin(), steps.end(), [&](const StepFacts& one) { return one.step == step; });
  });
}

Status check_kernels(const Finding& finding, const ProgramView& view) {
  std::vector<std::string> names = finding.also;
  if (!finding.place.kernel.empty()) names.push_back(finding.place.kernel);
  for (const std::string& name : names) {
    if (!view.kernel(name))
      return fail(Code::bad_record, fmt::format("a finding on `{}`, which is no kernel of the program", name));
  }
  return success();
}

Status check_step(const Finding& finding, const ProgramView& view) {
  const std::string& step = finding.place.step;
  if (step.empty() || has_step(view, finding.place.kernel, step)) return success();
  return fail(Code::bad_record,
              fmt::format("a finding on step `{}`, which `{}` does not have", step, finding.place.kernel));
}

Status check_finding(const Tool& tool, const Finding& finding, const ProgramView& view) {
  SOLSTICE_CHECK(validate(finding));
  SOLSTICE_CHECK(check_kernels(finding, view));
  if (!tool.elsewhere) return success();
  SOLSTICE_CHECK(check_step(finding, view));
  return check_lengths(finding);
}

void run_tool(const Tool& tool, const ProgramView& view, const DiagnoseOptions& options, std::vector<Found>& all,
              Diagnosis& out) {
  Result<std::vector<Finding>> answered = findings_of_tool(tool, view);
  if (!answered.ok()) return out.faults.push_back(fmt::format("{}: {}", tool.name, answered.error().message));
  std::vector<Finding>& found = *answered;
  if (const size_t most = most_findings_of(view.facts, options); found.size() > most)
    return out.faults.push_back(fmt::format("{}: {} findings, {} are allowed", tool.name, found.size(), most));
  for (Finding& finding : found) {
    if (const Status sound = check_finding(tool, finding, view); !sound.ok()) {
      out.faults.push_back(fmt::format("{}: {}", tool.name, sound.error().message));
      continue;
    }
    const KernelView* kernel = view.kernel(finding.place.kernel);
    if (kernel && !looks_at(tool, kernel->limited)) continue;
    if (tool.elsewhere) hold_to_equations(view, finding);
    check_actions(options, finding);
    if (kernel) say_how_read(tool, *kernel, finding);
    hold_to_measurements(tool, view, finding);
    all.push_back({std::move(finding), &tool});
  }
}

}  // namespace

void leave_out(const std::vector<std::string>& sources, Facts& facts) {
  const auto out = [&](const char* name) { return is_among(sources, name); };
  if (out("trace")) facts.timeline.clear();
  for (KernelSheet& kernel : facts.kernels) {
    if (out("trace")) kernel.measured.reset();
    for (StepFacts& step : kernel.steps) {
      if (out("trace")) step.measured.reset();
      if (out("sass")) step.sass.reset();
      if (out("counters")) step.counters.reset();
      if (!out("ptxas")) continue;
      step.registers = step.spill_stores = step.spill_loads = step.stack_bytes = step.shared_bytes = std::nullopt;
      step.occupancy.reset();
      step.notes.clear();
    }
  }
}

Diagnosis diagnose(const Facts& facts, const machine::Machine& machine, const DiagnoseOptions& options) {
  std::optional<Facts> fewer;
  if (!options.without.empty()) leave_out(options.without, fewer.emplace(facts));
  const Facts& seen = fewer ? *fewer : facts;
  Diagnosis out;
  out.program = classify(seen, machine);
  for (const KernelSheet& kernel : seen.kernels) out.kernels.emplace_back(kernel.kernel, classify(kernel, machine));
  const ProgramView view = view_of(seen, machine, out, options);
  std::vector<Found> found;
  for (const Tool* tool : options.tools.empty() ? all_tools() : options.tools) {
    const std::optional<SourceState> missing = missing_source(seen, *tool, options.without);
    if (missing) {
      out.open.push_back({tool->name, tool->question, missing->name, missing->why, missing->opens});
      continue;
    }
    run_tool(*tool, view, options, found, out);
    add_open_steps(*tool, view, out.open);
  }
  out.findings = settle(std::move(found));
  std::stable_sort(out.open.begin(), out.open.end(), [](const auto& a, const auto& b) { return a.tool < b.tool; });
  std::sort(out.faults.begin(), out.faults.end());
  return out;
}

}  // namespace solstice::diagnose
