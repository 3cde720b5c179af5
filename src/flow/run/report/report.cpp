#include "flow/run/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "base/file.h"
#include "base/time_text.h"
#include "flow/run/report/report_text.h"
#include "record/trial.h"

namespace solstice::flow {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string title(const Report& r) {
  std::string out = fmt::format("# {}\n\n**{}**\n", r.problem, headline_text(r));
  if (r.predicted) {
    out += "\nNo GPU was used: nothing was run, and every time below is *predicted* by cost models.\n";
  }
  if (!r.original.empty()) out += fmt::format("\nThe original: {}.\n", r.original);
  if (!r.left_out.empty()) out += fmt::format("\n> {}\n", r.left_out);
  for (const std::string& warning : r.warnings) out += fmt::format("\n> {}\n", warning);
  return out;
}

std::string headline_section(const Report& r) {
  const Headline& h = r.headline;
  if (!h.original && !h.replacement && !h.kernels) return "";
  Rows rows = {{"what", "median", "interval", "repetitions", "SM clock"}};
  const auto add = [&rows](const char* what, const std::optional<Measured>& m) {
    if (m)
      rows.push_back({what, time_text(m->median), interval_text(*m), std::to_string(m->samples), clock_text(m->clock)});
  };
  add("`Model.forward` (the original)", h.original);
  add("`ModelNew.forward` (the replacement)", h.replacement);
  add("its kernels alone", h.kernels);
  add("from their first start to their last end (CUPTI)", h.span);
  std::string out = "\n## Headline\n\n" + markdown_table(rows);
  if (h.speedup > 0)
    out += fmt::format("\nSpeedup {:.2f}x, interval {:.2f}x to {:.2f}x.\n", h.speedup, h.speedup_low, h.speedup_high);
  if (!h.agreement.empty()) out += fmt::format("\nThe two timers differ: {}\n", h.agreement);
  return out;
}

// Of a program without a table, as older reports have it. The steps of a kernel stand below it.
std::string kernel_section(const Report& r) {
  if (r.headline.by_kernel.empty() || r.time_by_kernel) return "";
  Rows rows = {{"kernel", "family", "measured", "predicted", "measured / predicted"}};
  for (const TracedKernel& k : r.headline.by_kernel) {
    const auto row =
        std::find_if(r.kernels.begin(), r.kernels.end(), [&](const KernelRow& x) { return x.name == k.kernel; });
    const bool ratio = k.predicted && k.predicted->value > 0;
    rows.push_back({code(k.kernel), row == r.kernels.end() ? "-" : row->family, time_text(k.measured),
                    k.predicted ? time_text(*k.predicted) : "-",
                    ratio ? fmt::format("{:.2f}", k.measured / *k.predicted) : "-"});
    for (const TracedStep& step : k.steps)
      rows.push_back({"of it " + code(step.step), "", time_text(step.measured), "", ""});
  }
  return "\n## Kernels\n\nBy CUPTI, without what lies between them; the cost models count a launch for each.\n\n" +
         markdown_table(rows);
}

std::string steps_text(const Report& r) {
  std::string out;
  for (const TracedKernel& kernel : r.headline.by_kernel) {
    std::vector<std::string> steps;
    for (const TracedStep& step : kernel.steps) steps.push_back(code(step.step) + " " + time_text(step.measured));
    if (!steps.empty()) out += fmt::format("- {}: of it {}\n", code(kernel.kernel), fmt::join(steps, ", "));
  }
  return out;
}

std::string finding_text(const Finding& finding) {
  std::string out = finding.place.kernel.empty() ? "" : code(finding.place.kernel) + ": ";
  out += finding.cause;
  if (!finding.also.empty()) out += fmt::format(" ({} kernels more)", finding.also.size());
  if (finding.gain.program > 1) out += fmt::format(". At most {:.2f}x: {}", finding.gain.program, finding.gain.because);
  if (const std::vector<ActionGroup> actions = grouped_actions(finding); !actions.empty())
    out += ". To try: " + actions[0].first->text + more_text(actions[0]);
  return out;
}

// Those that bear on the time.
std::string findings_section(const Report& r) {
  constexpr size_t kMost = 5;
  std::string list;
  size_t shown = 0;
  for (const Finding& finding : r.findings) {
    if (finding.severity == FindingSeverity::kNote || shown++ >= kMost) continue;
    list += fmt::format("- {} ({}, {})\n", finding_text(finding), finding.tool, enum_name(finding.severity));
  }
  return list.empty() ? "" : "\n## What stands in the way\n\n" + list;
}

std::string time_section(const Report& r) {
  if (!r.time_by_kernel || r.time_by_kernel->rows.empty()) return "";
  Rows rows = cells_of(*r.time_by_kernel);
  for (size_t i = 1; i + 1 < rows.size(); ++i) rows[i][0] = code(rows[i][0]);
  std::string list;
  for (const std::string& reason : reasons_of(*r.time_by_kernel)) list += "- " + reason + "\n";
  list += steps_text(r);
  const char* const bound =
      "\nThe bound of a row is that of its kernel as it was cut; the practical bound is of all "
      "equations, in the best cut.\n";
  return "\n## Where the time goes\n\n" + markdown_table(rows) + bound + (list.empty() ? "" : "\n" + list);
}

// A model's, where the original was not timed.
const PredictedOriginal* predicted_original(const Report& r) {
  const bool timed = r.headline.original || !r.baselines.empty();
  return r.predicted_original && !timed && r.predicted_original->time.value > 0 ? &*r.predicted_original : nullptr;
}

// The time is the larger of the device's and of what the host's dispatch takes beyond its hidden part.
std::string dispatch_text(const PredictedOriginal& original) {
  if (original.host.value <= 0) return "; their dispatch takes an unknown time on the host";
  const std::string host = time_text(original.host);
  if (original.time <= original.device)
    return fmt::format(", which their dispatch of {} on the host does not delay{}", host,
                       original.host > original.device ? " (it begins while L2 is flushed)" : "");
  return fmt::format(
      ", but their dispatch takes {} on the host, of which the first {} pass while L2 is flushed, before the timed "
      "kernels begin: the other {} are the original's time",
      host, time_text(original.host - original.time), time_text(original.time));
}

std::string original_section(const Report& r) {
  const PredictedOriginal* original = predicted_original(r);
  if (!original) return "";
  Rows rows = {{"operator", "class", "calls", "kernels", "predicted", "limited by"}};
  std::vector<std::string> unfitted;
  for (const OperatorTime& each : original->operators) {
    rows.push_back({code(each.op), each.kind, std::to_string(each.calls), std::to_string(each.kernels),
                    time_text(each.time), each.limited_by});
    if (!each.fitted) unfitted.push_back(code(each.op));
  }
  std::string out = fmt::format(
      "\n## The original, predicted\n\nPyTorch eager is predicted to take {}: {} for {} on the device (the sum of "
      "the table){}. `solstice list families --fit` has the error of such predictions.\n",
      time_text(original->time), time_text(original->device), counted(original->kernels, "kernel"),
      dispatch_text(*original));
  if (!unfitted.empty()) out += fmt::format("\nNot judged by any measured original: {}.\n", fmt::join(unfitted, ", "));
  return out + "\n" + markdown_table(rows);
}

std::optional<Seconds> best_time(const Report& r) {
  if (r.headline.kernels) return r.headline.kernels->median;
  std::optional<Seconds> best = r.predicted ? best_prediction(r) : std::nullopt;
  for (const CandidateRow& c : r.candidates) {
    if (c.time && (!best || c.time->median < *best)) best = c.time->median;
  }
  return best;
}

std::string cause_text(const Bound& bound) {
  std::vector<BoundTerm> terms = bound.terms;
  std::stable_sort(terms.begin(), terms.end(), [](const BoundTerm& a, const BoundTerm& b) { return b.time < a.time; });
  std::vector<std::string> parts;
  for (const BoundTerm& t : terms) {
    if (parts.size() == 4) break;
    parts.push_back(
        fmt::format("{} {}{}", t.name, time_text(t.time), t.cause.empty() ? "" : " (" + code(t.cause) + ")"));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// What is whose, where PyTorch runs a part of the module.
std::string parts_section(const Report& r) {
  if (r.parts.empty()) return "";
  Rows rows = {{"part", "whose", "time", "in PyTorch", "share", "place", "why it stays PyTorch's"}};
  double ours = 0;
  bool predicted = false;
  Seconds time{0}, original{0};
  for (const PartRow& row : r.parts) {
    rows.push_back({row.ours ? row.what : code(row.what), row.ours ? "ours" : "PyTorch's", time_text(row.time),
                    time_text(row.original), fmt::format("{:.1f} %", 100 * row.share), row.place, row.why});
    if (row.ours) ours += row.share;
    predicted = predicted || row.predicted;
    time += row.time;
    original += row.original;
  }
  rows.push_back({"all parts, added up", "", time_text(time), time_text(original), "100.0 %", "", ""});
  const char* const why = r.predicted ? "Times are those of kernels on the GPU; the headline's are longer where it "
                                        "waits for the host to launch them."
                                      : "Stages and calls are timed one by one, so that they do not add up to the "
                                        "headline.";
  return fmt::format("\n## Parts\n\n{:.0f} % of the drop-in's time is ours, {:.0f} % PyTorch's{}. {}\n\n", 100 * ours,
                     100 * (1 - ours), predicted ? " (predicted)" : "", why) +
         markdown_table(rows);
}

// Every rung from the io bound up to the original, with how far the next best stands from it.
std::string ladder_section(const Report& r) {
  if (r.bounds.empty()) return "";
  const std::optional<Seconds> best = best_time(r);
  Rows rows = {{"rung", "time", "best / rung", "made of"}};
  const auto ratio = [&best](Seconds rung) {
    return best && rung.value > 0 ? fmt::format("{:.2f}", *best / rung) : "-";
  };
  for (const Bound& b : r.bounds) {
    const std::string meaning = b.meaning.empty() ? "" : ": " + b.meaning;
    rows.push_back({fmt::format("SOL {}{}", b.name, meaning), time_text(b.time), ratio(b.time), cause_text(b)});
  }
  if (best)
    rows.push_back({r.predicted ? "best candidate (predicted)" : "best candidate", time_text(*best), "1.00", ""});
  if (r.headline.original) {
    rows.push_back({"the original", time_text(r.headline.original->median), ratio(r.headline.original->median), ""});
  } else if (const PredictedOriginal* original = predicted_original(r)) {
    rows.push_back({"the original (predicted)", time_text(original->time), ratio(original->time), ""});
  }
  std::string out = "\n## Speed of light\n\n" + markdown_table(rows);
  if (!r.bound_by.empty()) out += fmt::format("\nWhat bounds the result: {}\n", r.bound_by);
  return out;
}

std::string baseline_section(const Report& r) {
  if (r.baselines.empty()) return "";
  Rows rows = {{"baseline", "median", "interval", "repetitions", "over eager", "error", "note"}};
  for (const Baseline& b : r.baselines) {
    rows.push_back({b.name, b.time ? time_text(b.time->median) : "-", b.time ? interval_text(*b.time) : "-",
                    b.time ? std::to_string(b.time->samples) : "-",
                    b.speedup > 0 ? fmt::format("{:.2f}x", b.speedup) : "-",
                    b.error ? fmt::format("{:.2e}", *b.error) : "-", b.note});
  }
  std::string out = "\n## Baselines\n\n";
  const bool errors =
      std::any_of(r.baselines.begin(), r.baselines.end(), [](const Baseline& b) { return b.error.has_value(); });
  // One row is eager alone, whose note says how it was timed; opponents are only ever timed together.
  if (r.baselines.size() > 1) out += "Timed in one process in blocks in turn, under the protocol of the headline.\n\n";
  if (errors) out += "Errors are normwise against float64 on the example inputs.\n\n";
  return out + markdown_table(rows);
}

std::string limit_text(double value, double limit) {
  return limit > 0 ? fmt::format("{:.2e} (limit {:.2e})", value, limit) : fmt::format("{:.2e}", value);
}

std::string error_section(const Report& r) {
  if (r.errors.empty()) return "";
  Rows rows = {{"output", "whose", "normwise", "worst case", "elementwise", "worst case"}};
  for (const ErrorRow& e : r.errors) {
    rows.push_back({code(e.output), e.who, limit_text(e.normwise, e.normwise_limit), e.worst,
                    limit_text(e.elementwise, e.elementwise_limit), e.worst_elementwise});
  }
  return "\n## Errors against the float64 oracle\n\n" + markdown_table(rows);
}

std::string candidate_section(const Report& r) {
  if (r.candidates.empty()) return "";
  Rows rows = {{"trial", "candidate", "state", "equations", "measured", "predicted", "note"}};
  for (const CandidateRow& c : r.candidates) {
    rows.push_back({std::to_string(c.trial), code(c.what), c.state, c.meaning.empty() ? "-" : c.meaning,
                    c.time ? time_text(c.time->median) : "-", c.predicted ? time_text(*c.predicted) : "-", c.note});
  }
  std::string out = "\n## Candidates\n\n" + markdown_table(rows);
  if (r.trials) return out + fmt::format("\n{}.\n", text_of(*r.trials));
  if (r.trials_skipped > 0)
    out += fmt::format("\n{} more were proposed and not tried: no gain was expected of them.\n", r.trials_skipped);
  return out;
}

std::string machine_section(const Report& r) {
  Rows rows = {{"", ""}};
  const auto add = [&rows](const std::string& what, const std::string& value) {
    if (!value.empty()) rows.push_back({what, value});
  };
  add("device", r.device);
  add("machine description", r.machine);
  if (r.original_peak_memory) add("peak memory, original", bytes_text(*r.original_peak_memory));
  if (r.replacement_peak_memory) add("peak memory, replacement", bytes_text(*r.replacement_peak_memory));
  for (const auto& [what, value] : r.clocks) add(what, value);
  for (const auto& [what, value] : r.options) add("option " + what, value);
  for (const auto& [what, value] : r.versions) add(what, value);
  add("run", r.run);
  add("date", r.created);
  std::string out = "\n## Machine and versions\n\n" + markdown_table(rows);
  if (!r.command.empty()) out += "\nReproduce with\n\n```\n" + shell_text(r.working_folder, r.command) + "\n```\n";
  return out;
}

// Stages in the order of their time; requests to the oracle lie within them.
std::string timings_section(const Report& r) {
  if (r.timings.empty()) return "";
  std::vector<std::pair<std::string, Seconds>> sorted(r.timings.begin(), r.timings.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return b.second < a.second; });
  Rows rows = {{"stage of the run", "took"}};
  const auto searched = r.timings.find("search");
  for (const auto& [stage, took] : sorted) {
    const bool within = stage.starts_with("search: ") && searched != r.timings.end();
    rows.push_back({stage, time_text(took) + (within ? " of " + time_text(searched->second) : "")});
  }
  return "\n## Where the run's time went\n\n" + markdown_table(rows);
}

std::string program_section(const Report& r) {
  return r.program.empty() ? ""
                           : "\n## Program\n\n```\n" + r.program + (r.program.ends_with('\n') ? "" : "\n") + "```\n";
}

// A ratio to what was written from the equations is none to somebody's module.
std::string than_text(const Report& r) { return r.original == kWrittenOriginal ? " than " + r.original : ""; }

}  // namespace

std::string headline_text(const Report& r) {
  const Headline& h = r.headline;
  std::string out = r.problem + ": ";
  if (r.outcome == RunOutcome::kUnsupported) return out + "unsupported: " + r.reason;
  if (r.outcome == RunOutcome::kFaster && h.original && h.replacement) {
    out += fmt::format("{:.2f}x faster{} ({} to {})", h.speedup, than_text(r), time_text(h.original->median),
                       time_text(h.replacement->median));
  } else {
    out += enum_name(r.outcome);
    if (!r.reason.empty()) out += ": " + r.reason;
  }
  const auto sol = std::find_if(r.bounds.begin(), r.bounds.end(), [](const Bound& b) { return b.name == "practical"; });
  const std::optional<Seconds> best = best_time(r);
  if (best && sol != r.bounds.end() && sol->time.value > 0) {
    out += fmt::format(", {:.2f}x of the practical bound{}", *best / sol->time,
                       r.predicted && r.outcome != RunOutcome::kPredicted ? " (predicted)" : "");
  }
  const PredictedOriginal* original = predicted_original(r);
  if (best && best->value > 0 && original && r.predicted)
    out += fmt::format(", predicted {:.2f}x over a predicted original of {}", original->time / *best,
                       time_text(original->time));
  return out;
}

std::string render_markdown(const Report& r) {
  return title(r) + headline_section(r) + parts_section(r) + time_section(r) + findings_section(r) + kernel_section(r) +
         original_section(r) + ladder_section(r) + baseline_section(r) + error_section(r) + candidate_section(r) +
         program_section(r) + machine_section(r) + timings_section(r);
}

std::optional<Seconds> best_prediction(const Report& report) {
  std::optional<Seconds> best;
  for (const CandidateRow& c : report.candidates) {
    const bool works = c.state == enum_name(TrialState::kPredicted) || c.state == enum_name(TrialState::kVerified);
    if (works && c.predicted && (!best || *c.predicted < *best)) best = c.predicted;
  }
  return best;
}

Status write_report(const Report& report, const std::filesystem::path& folder) {
  SOLSTICE_CHECK(write_file(folder / "report.json", to_json(report).dump(2) + "\n"));
  return write_file(folder / "report.md", render_markdown(report));
}

}  // namespace solstice::flow
