#include "diagnose/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace solstice::diagnose {
namespace {

bool is_among(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

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

// Parts of facts whose source is left out.
void strip(Facts& facts, const std::vector<std::string>& without) {
  const auto out = [&](const char* name) { return is_among(without, name); };
  if (out("trace")) facts.timeline.clear();
  for (KernelSheet& kernel : facts.kernels) {
    if (out("trace")) kernel.measured.reset();
    for (StepFacts& step : kernel.steps) {
      if (out("trace")) step.measured.reset();
      if (out("sass")) step.sass.reset();
      if (out("counters")) step.counters.reset();
      if (out("ptxas")) step.registers = step.spill_stores = step.spill_loads = step.stack_bytes = std::nullopt;
    }
  }
}

bool looks_at(const Tool& tool, Class limited) {
  return tool.classes.empty() || limited == Class::kMixed ||
         std::find(tool.classes.begin(), tool.classes.end(), limited) != tool.classes.end();
}

ProgramView view_of(const Facts& facts, const machine::Machine& machine, const Diagnosis& classes) {
  ProgramView out{facts, machine, {}};
  Seconds sum;
  for (const KernelSheet& kernel : facts.kernels) {
    if (!kernel.once) sum += kernel.measured.value_or(kernel.predicted.value_or(Seconds(0)));
  }
  const Seconds whole = std::max(sum, out.time());
  for (size_t i = 0; i < facts.kernels.size(); ++i) {
    KernelView view{facts, facts.kernels[i], machine, classes.kernels[i].second.of(), 0};
    if (!view.kernel.once && whole.value > 0) view.share = view.time() / whole;
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

bool is_sound(const Finding& finding) {
  const auto bound = [](double gain) { return gain >= 1 && gain < 1e9; };
  return bound(finding.gain.program) && bound(finding.gain.kernel) && !finding.cause.empty() &&
         !finding.evidence.empty();
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

// A guess is not what one begins with.
void cap_guess(Finding& finding) {
  if (finding.confidence == Confidence::kLow) finding.severity = std::min(finding.severity, FindingSeverity::kMedium);
}

// Total order, so that the order of tools does not show.
bool before(const Finding& a, const Finding& b) {
  const auto key = [](const Finding& f) {
    return std::tuple(-static_cast<int>(f.severity), -f.gain.program, -static_cast<int>(f.confidence), f.tool,
                      f.place.kernel, f.place.step, f.place.line, f.cause);
  };
  return key(a) < key(b);
}

void run_tool(const Tool& tool, const ProgramView& view, const DiagnoseOptions& options, Diagnosis& out) {
  Result<std::vector<Finding>> answered = findings_of_tool(tool, view);
  if (!answered.ok()) return out.faults.push_back(fmt::format("{}: {}", tool.name, answered.error().message));
  std::vector<Finding>& found = *answered;
  if (found.size() > options.most_findings) {
    out.faults.push_back(
        fmt::format("{}: {} findings, {} are allowed", tool.name, found.size(), options.most_findings));
    return;
  }
  for (Finding& finding : found) {
    if (!is_sound(finding)) {
      out.faults.push_back(
          fmt::format("{}: a finding without evidence, or with a bound of {}", tool.name, finding.gain.program));
      continue;
    }
    check_actions(options, finding);
    cap_guess(finding);
    out.findings.push_back(std::move(finding));
  }
}

// Of equal parts of the whole, each of which may become faster by its own bound.
double together(double a, double b) {
  const double left = 1 / a + 1 / b - 1;
  return left > 0 ? std::max({a, b, 1 / left}) : std::max(a, b);
}

// Kernels that are alike share a function, and what is wrong with it.
void merge_alike(std::vector<Finding>& findings) {
  std::vector<Finding> out;
  for (Finding& finding : findings) {
    const auto same = [&](const Finding& other) { return other.tool == finding.tool && other.cause == finding.cause; };
    const auto found = std::find_if(out.begin(), out.end(), same);
    if (found == out.end()) {
      out.push_back(std::move(finding));
      continue;
    }
    found->also.push_back(finding.place.kernel);
    found->gain.program = together(found->gain.program, finding.gain.program);
    found->severity = severity_of(found->gain.program);
    cap_guess(*found);
  }
  findings = std::move(out);
}

}  // namespace

Diagnosis diagnose(const Facts& facts, const machine::Machine& machine, const DiagnoseOptions& options) {
  Facts seen = facts;
  strip(seen, options.without);
  Diagnosis out;
  out.program = classify(seen, machine);
  for (const KernelSheet& kernel : seen.kernels) out.kernels.emplace_back(kernel.kernel, classify(kernel, machine));
  const ProgramView view = view_of(seen, machine, out);
  for (const Tool* tool : options.tools.empty() ? all_tools() : options.tools) {
    const std::optional<SourceState> missing = missing_source(seen, *tool, options.without);
    if (missing)
      out.open.push_back({tool->name, tool->question, missing->name, missing->why, missing->opens});
    else
      run_tool(*tool, view, options, out);
  }
  std::sort(out.findings.begin(), out.findings.end(), before);
  merge_alike(out.findings);
  std::sort(out.findings.begin(), out.findings.end(), before);
  std::sort(out.open.begin(), out.open.end(), [](const auto& a, const auto& b) { return a.tool < b.tool; });
  std::sort(out.faults.begin(), out.faults.end());
  return out;
}

}  // namespace solstice::diagnose
