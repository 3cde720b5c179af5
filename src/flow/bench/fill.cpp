#include "flow/bench/fill.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/version.h"
#include "flow/run/report/measured.h"
#include "flow/run/state/build_identity.h"
#include "run/timing_stats.h"

namespace solstice::flow {
namespace {

Seconds bound_of(const Report& report, std::string_view name) {
  for (const Bound& bound : report.bounds) {
    if (bound.name == name) return bound.time;
  }
  return Seconds(0);
}

// The worst of all outputs.
void fill_errors(BenchVariant& v, const Report& report) {
  for (const ErrorRow& row : report.errors) {
    double& worst = row.who == "winner" ? v.worst : v.worst_eager;
    worst = std::max(worst, row.normwise);
  }
}

void fill_headline(BenchVariant& v, const Report& report) {
  const Headline& h = report.headline;
  v.speedup = h.speedup;
  v.speedup_low = h.speedup_low;
  v.speedup_high = h.speedup_high;
  if (h.replacement) v.replacement = h.replacement->median;
  if (h.original) {
    v.original = h.original->median;
  } else if (!report.baselines.empty() && report.baselines[0].time) {
    v.original = report.baselines[0].time->median;
  }
}

std::optional<BenchParts> parts_of(const Report& report) {
  if (report.parts.empty()) return std::nullopt;
  BenchParts out;
  out.all = static_cast<int>(report.parts.size());
  if (const auto found = report.timings.find("search"); found != report.timings.end()) out.searched = found->second;
  for (const PartRow& row : report.parts) {
    out.trials += row.trials;
    if (!row.ours) continue;
    ++out.ours;
    out.share += row.share;
  }
  return out;
}

// Median over all compiled trials.
Seconds median_trial(const Report& report) {
  std::vector<double> all;
  for (const CandidateRow& row : report.candidates) {
    if (row.took.value > 0) all.push_back(row.took.value);
  }
  return Seconds(all.empty() ? 0 : run::median(all));
}

}  // namespace

std::map<std::string, std::string> made_with(const Report& report) {
  std::map<std::string, std::string> out = {{"solstice", std::string(version())}, {"build", build_identity()}};
  if (!report.device.empty()) out["device"] = report.device;
  for (const char* name : {"driver", "torch"}) {
    if (const auto found = report.versions.find(name); found != report.versions.end()) out[name] = found->second;
  }
  return out;
}

void fill_variant(BenchVariant& v, const OptimizeOutcome& outcome) {
  const Report& report = outcome.report;
  v.outcome = report.outcome;
  v.reason = report.reason;
  v.predicted = report.predicted;
  fill_headline(v, report);
  fill_errors(v, report);
  v.verdict = report.verdict;
  v.check = report.headline.check;
  v.rewritten = report.rewrites;
  v.io = bound_of(report, "io");
  v.work = bound_of(report, "work");
  v.practical = bound_of(report, "practical");
  for (const KernelRow& kernel : report.kernels) v.kernels.push_back({kernel.name, kernel.family});
  v.parts = parts_of(report);
  v.launches = report.launches;
  v.trial = median_trial(report);
  v.verification = report.verification;
  v.run = report.run;
  v.folder = outcome.out.string();
}

void fill_error(BenchVariant& v, const Error& error) {
  v.failed = true;
  v.outcome = error.code == Code::unsupported_operator ? RunOutcome::kUnsupported : RunOutcome::kNone;
  v.reason = fmt::format("{}: {}", name_of(error.code), error.sentence());
}

BenchSide side_of(const OracleRival& rival) {
  BenchSide out;
  out.name = rival.name;
  out.error = rival.error;
  out.note = rival.note;
  if (rival.peak.value > 0) out.peak = rival.peak;
  if (!rival.seconds.empty()) out.time = measured_of(rival.seconds);
  return out;
}

BenchFlaws flaws_of(const OpponentsFound& found) {
  const OracleFlaws& f = found.flaws;
  BenchFlaws out;
  out.measured = found.flaws_note.empty();
  out.note = out.measured ? f.note : found.flaws_note;
  out.constant_output = !f.constant.empty();
  out.constant = f.constant;
  out.change = f.change;
  out.unseen = f.unseen;
  out.dead = f.dead;
  out.off = f.off;
  out.original_off = f.off && *f.off > 1;
  return out;
}

}  // namespace solstice::flow
