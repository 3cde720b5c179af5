#include "cli/view/trial_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/line_diff.h"
#include "cli/harmless.h"
#include "cli/view/finding_text.h"
#include "cli/view/run_view.h"
#include "cli/view/table.h"
#include "record/kernel_trace.h"
#include "record/verdict.h"

namespace solstice::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// The node that a trial was derived from; 0 is the problem itself.
struct Parent {
  int number = 0;
  std::string state;
  std::string program;
};

struct Origin {
  std::optional<Parent> parent;  // nothing: the run has no search tree
  std::optional<double> factor;  // over the original
  Json costs;                    // by kernel, by the cost models
};

Origin origin_of(const store::LoadedRun& loaded, const TrialRecord& trial) {
  const Result<RunView> view = view_of(loaded);
  if (!view.ok() || static_cast<size_t>(trial.number) >= view->tree.nodes().size()) return {};
  const search::Node& node = view->tree.node(trial.number);
  const search::Node& parent = view->tree.node(node.proposal.parent);
  std::string state = view->state_text(parent);
  if (parent.usable()) state += ", " + show(parent.measurement->time);
  return {Parent{parent.id, std::move(state), parent.proposal.program}, view->factor(node),
          node.measurement ? node.measurement->record.at("costs") : Json()};
}

std::string changes_of(const Origin& origin, const TrialRecord& trial) {
  if (!origin.parent || origin.parent->program.empty()) return "";
  return line_diff(origin.parent->program, trial.program);
}

std::string section(const std::string& title, const std::string& body) {
  if (body.empty()) return "";
  std::string text = "\n" + title + "\n";
  for (size_t begin = 0; begin < body.size();) {
    const size_t end = std::min(body.find('\n', begin), body.size());
    const std::string line = body.substr(begin, end - begin);
    text += line.empty() ? "\n" : "  " + line + "\n";
    begin = end + 1;
  }
  return text;
}

std::string head_line(const char* name, const std::string& value) {
  return value.empty() ? "" : fmt::format("{:<10} {}\n", name, harmless_lines(value));
}

std::string times_of(const TrialRecord& trial, const Origin& origin) {
  std::string text;
  if (trial.measured) text = show(*trial.measured);
  if (trial.predicted) text += (text.empty() ? "" : ", ") + show(*trial.predicted, true);
  if (origin.factor) text += fmt::format(", {} of the original's speed", show_factor(*origin.factor));
  return text;
}

std::string head_of(const TrialRecord& trial, const Origin& origin) {
  std::string text = head_line("trial", fmt::format("{} of run {}", trial.number, trial.run));
  text += head_line("what", trial.what) + head_line("origin", trial.origin);
  if (origin.parent) {
    const bool problem = origin.parent->number == 0;
    text += head_line("parent", problem ? "the problem itself"
                                        : fmt::format("trial {} ({})", origin.parent->number, origin.parent->state));
  }
  text += head_line("state", enum_name(trial.state)) + head_line("why", trial.message);
  text += head_line("time", times_of(trial, origin));
  text += head_line("equations", trial.equations) + head_line("meaning", trial.meaning) + head_line("cut", trial.cut);
  text += head_line("compiled", trial.compile_time.value > 0 ? show(trial.compile_time) : "");
  text += head_line("measuring", trial.measuring.value > 0 ? show(trial.measuring) : "");
  return text + head_line("gpu", trial.gpu ? std::to_string(*trial.gpu) : "") + head_line("started", trial.started);
}

std::string schedule_of(const TrialRecord& trial) {
  std::string text;
  for (const std::string& setting : trial.settings) text += harmless(setting) + "\n";
  return text;
}

// "wrong result"
std::string in_words(Outcome outcome) {
  std::string text = enum_name(outcome);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string error_cell(const std::optional<double>& error) { return error ? fmt::format("{:.2e}", *error) : "-"; }

std::string cases_of(const Verdict& verdict) {
  Rows rows = {{"case", "pass", "output", "normwise", "limit", "PyTorch's", "elementwise", "limit", "verdict"}};
  for (const CaseVerdict& one : verdict.cases) {
    for (const OutputVerdict& out : one.outputs) {
      rows.push_back({one.name, std::to_string(one.pass), out.output, error_cell(out.normwise),
                      error_cell(out.limit_normwise), error_cell(out.pytorch_normwise), error_cell(out.elementwise),
                      error_cell(out.limit_elementwise), in_words(out.outcome)});
    }
    if (one.outputs.empty()) {
      rows.push_back({one.name, std::to_string(one.pass), "-", "-", "-", "-", "-", "-", in_words(one.outcome)});
    }
  }
  return rows.size() > 1 ? table(rows) : "";
}

std::string verdict_of(const TrialRecord& trial) {
  if (trial.verdict.is_null()) return "";
  const Result<Verdict> verdict = from_json<Verdict>(trial.verdict);
  if (!verdict.ok()) return "its record cannot be read: " + harmless_lines(verdict.error().message) + "\n";
  std::string text = fmt::format("{}, under the policy `{}`\n", in_words(verdict->outcome), harmless(verdict->policy));
  if (!verdict->message.empty()) text += harmless_lines(verdict->message) + "\n";
  return text + cases_of(*verdict);
}

// By the cost models, where nothing was traced.
std::string predicted_kernels(const Json& costs) {
  Rows rows = {{"kernel", "family", "predicted", "limited by"}};
  for (const Json& cost : costs.items()) {
    rows.push_back({cost.at("kernel").as_string(), cost.at("family").as_string(),
                    show(Seconds(cost.at("seconds").as_double())), cost.at("bound").as_string()});
  }
  return rows.size() > 1 ? table(rows) : "";
}

std::string kernels_of(const TrialRecord& trial, const Origin& origin) {
  if (trial.trace.is_null()) return predicted_kernels(origin.costs);
  const Result<KernelTrace> trace = kernel_trace_of(Json::object().set("trace", trial.trace));
  if (!trace.ok()) return "its record cannot be read: " + harmless_lines(trace.error().message) + "\n";
  if (trace->kernels.empty()) return trace->note.empty() ? "" : harmless_lines(trace->note) + "\n";
  double all = 0;
  for (const TracedKernel& kernel : trace->kernels) all += kernel.measured.value;
  Rows rows = {{"kernel", "measured", "share", "predicted"}};
  for (const TracedKernel& kernel : trace->kernels) {
    rows.push_back({kernel.kernel, show(kernel.measured), fmt::format("{:.0f} %", 100 * kernel.measured.value / all),
                    kernel.predicted ? show(*kernel.predicted) : "-"});
    for (const TracedStep& step : kernel.steps) rows.push_back({"  " + step.step, show(step.measured), "", ""});
  }
  return table(rows);
}

std::string findings_of(const TrialRecord& trial) {
  const Result<std::vector<Finding>> findings = findings_of_record(Json::object().set("findings", trial.findings));
  if (!findings.ok()) return "cannot be read: " + findings.error().message;
  std::string out;
  int number = 0;
  for (const Finding& finding : *findings) out += harmless_lines(finding_text(finding, ++number, trial.program));
  return out;
}

std::string resources_table(const TrialRecord& trial) {
  Rows rows = {{"module", "kernel", "registers", "shared", "spills"}};
  for (size_t i = 0; i < trial.cost.size(); ++i) {
    const Json& module = trial.cost.at(i);
    const Json& kernels = module.at("kernels");
    for (size_t k = 0; k < kernels.size(); ++k) {
      const Json& kernel = kernels.at(k);
      rows.push_back({module.at("module").as_string(), clip(kernel.at("entry").as_string(), 48),
                      std::to_string(kernel.at("registers").as_int()),
                      show(Bytes(static_cast<double>(kernel.at("shared_bytes").as_int()))),
                      std::to_string(kernel.at("spill_stores").as_int() + kernel.at("spill_loads").as_int())});
    }
  }
  return rows.size() > 1 ? table(rows) : "";
}

}  // namespace

std::string trial_page(const store::LoadedRun& loaded, const TrialRecord& trial) {
  const Origin origin = origin_of(loaded, trial);
  const std::string changed = origin.parent ? fmt::format("changes from trial {}", origin.parent->number) : "";
  return head_of(trial, origin) + section("schedule", schedule_of(trial)) +
         section(changed, harmless_lines(changes_of(origin, trial))) + section("verdict", verdict_of(trial)) +
         section("time by kernel", kernels_of(trial, origin)) + section("findings", findings_of(trial)) +
         section("resources", resources_table(trial)) + section("program", harmless_lines(trial.program));
}

Json trial_page_json(const store::LoadedRun& loaded, const TrialRecord& trial) {
  const Origin origin = origin_of(loaded, trial);
  return to_json(trial)
      .set("parent", origin.parent ? Json(origin.parent->number) : Json())
      .set("changes", changes_of(origin, trial));
}

}  // namespace solstice::cli
