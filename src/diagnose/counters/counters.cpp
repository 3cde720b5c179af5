#include "diagnose/counters/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "base/file.h"
#include "diagnose/counters/counter_table.h"
#include "diagnose/counters/ncu.h"
#include "diagnose/counters/ncu_failure.h"
#include "diagnose/counters/ncu_pages.h"
#include "diagnose/counters/stall_reasons.h"

namespace solstice::diagnose {
namespace {

constexpr Seconds kPageLimit{60};

Result<Plan> read_profiled_plan(const std::filesystem::path& path) {
  SOLSTICE_TRY(const std::string text, read_file(path));
  SOLSTICE_TRY(const Json json, parse_json(text));
  SOLSTICE_TRY(Plan plan, from_json<Plan>(json));
  SOLSTICE_CHECK(validate(plan));
  return plan;
}

Result<std::vector<const Step*>> find_steps(const Plan& plan, const std::vector<std::string>& names) {
  std::vector<const Step*> out;
  for (const std::string& name : names) {
    const auto found = std::find_if(plan.steps.begin(), plan.steps.end(), [&](const Step& step) {
      return step.name == name && step.kind == StepKind::kLaunch;
    });
    if (found == plan.steps.end())
      return fail(Code::bad_argument, fmt::format("`{}` has no launch `{}`", plan.program, name));
    out.push_back(&*found);
  }
  return out;
}

// Share of warps by what they wait for: of the sampler's totals, else of the hardware's counters.
std::map<std::string, double> shares_of(const std::map<std::string, int64_t>& samples,
                                        const std::map<std::string, double>& metrics) {
  std::map<std::string, double> out;
  int64_t total = 0;
  for (const auto& [reason, count] : samples) total += count;
  for (const auto& [reason, count] : samples) {
    if (count > 0) out[reason] = static_cast<double>(count) / static_cast<double>(total);
  }
  if (!out.empty()) return out;
  for (const StallReason& reason : stall_reasons()) {
    const auto found = metrics.find(stall_metric(reason.name));
    if (found != metrics.end()) out[std::string(reason.name)] = found->second;
  }
  return out;
}

struct StepResult {
  std::optional<CounterFacts> facts;
  std::optional<NcuFailure> failure;
  std::vector<std::string> notes;
};

// What is asked of each launch, and by which ncu.
class Profiling {
 public:
  Profiling(const CounterRequest& request, const ProfiledWork& work, std::filesystem::path ncu)
      : request_(request), work_(work), ncu_(std::move(ncu)) {}

  // Leaves out what this ncu does not have; returns a note for each.
  std::vector<std::string> choose_metrics(std::string_view arch);
  Result<StepResult> profile(const Plan& plan, const Step& step);

 private:
  Result<StepResult> profile_once(const Plan& plan, const Step& step, std::string& log);
  StepResult read_report(const std::filesystem::path& report, const Step& step) const;
  Result<std::string> page(const std::filesystem::path& report, const Step& step, std::string_view name) const;
  Status keep(const Step& step, std::string_view what, std::string_view text) const;
  void drop(const std::set<std::string>& refused, std::vector<std::string>& notes);

  const CounterRequest& request_;
  const ProfiledWork& work_;
  std::filesystem::path ncu_;
  std::vector<std::string> metrics_;
};

std::vector<std::string> Profiling::choose_metrics(std::string_view arch) {
  const std::vector<std::string> wanted = request_.metrics.empty() ? counter_metrics() : request_.metrics;
  const std::set<std::string> known = known_metrics(ncu_, ncu_chip(arch), wanted);
  std::vector<std::string> notes;
  for (const std::string& metric : wanted) {
    if (known.empty() || known.contains(metric)) {
      metrics_.push_back(metric);
    } else {
      notes.push_back(fmt::format("{}: this ncu has no such counter on {}", metric, arch));
    }
  }
  return notes;
}

void Profiling::drop(const std::set<std::string>& refused, std::vector<std::string>& notes) {
  std::erase_if(metrics_, [&](const std::string& metric) { return refused.contains(metric); });
  for (const std::string& metric : refused) notes.push_back(fmt::format("{}: this ncu refuses it", metric));
}

Status Profiling::keep(const Step& step, std::string_view what, std::string_view text) const {
  return request_.keep.empty() ? success() : write_file(request_.keep / fmt::format("{}.{}", step.name, what), text);
}

Result<std::string> Profiling::page(const std::filesystem::path& report, const Step& step,
                                    std::string_view name) const {
  SOLSTICE_TRY(std::string text, print_page(ncu_, report, name, kPageLimit));
  SOLSTICE_CHECK(keep(step, fmt::format("{}.csv", name), text));
  return text;
}

StepResult Profiling::read_report(const std::filesystem::path& report, const Step& step) const {
  StepResult out;
  const Result<std::string> raw_text = page(report, step, "raw");
  if (!raw_text.ok()) {
    out.failure = NcuFailure{raw_text.error().text(), "", false};
    return out;
  }
  RawPage raw = read_raw_page(*raw_text, metrics_);
  out.notes = std::move(raw.notes);
  CounterFacts facts;
  facts.metrics = std::move(raw.metrics);
  if (request_.sampling) {
    const Result<std::string> source_text = page(report, step, "source");
    SourcePage source = source_text.ok() ? read_source_page(*source_text, request_.most_hot) : SourcePage();
    if (!source_text.ok()) out.notes.push_back(source_text.error().text());
    out.notes.insert(out.notes.end(), source.notes.begin(), source.notes.end());
    facts.hot = std::move(source.hot);
    if (raw.samples.empty()) raw.samples = std::move(source.samples);
  }
  facts.stalls = shares_of(raw.samples, facts.metrics);
  if (facts.metrics.empty() && facts.stalls.empty()) {
    out.failure = NcuFailure{"ncu's report holds none of the counters that were asked for", "", false};
  } else {
    out.facts = std::move(facts);
  }
  return out;
}

// The runner may write below `shared` alone: what ncu concludes lies beside it.
Result<StepResult> Profiling::profile_once(const Plan& plan, const Step& step, std::string& log) {
  SOLSTICE_TRY(const TempFolder folder, TempFolder::create("solstice-counters-"));
  const NcuFiles files{folder.path() / "launch.ncu-rep", folder.path() / "ncu.log", folder.path() / "sections"};
  const std::filesystem::path shared = folder.path() / "shared";
  SOLSTICE_CHECK(make_folder(shared));
  SOLSTICE_CHECK(write_file(files.sections / "warp_states.section", sampling_section()));
  const NcuLaunch launch{step.entry, launches_before(plan, step), metrics_, request_.sampling};
  const Result<run::ProfiledRun> run = work_({ncu_command(ncu_, launch, files), shared}, request_.limits);
  if (!run.ok() && run.error().code == Code::bad_argument) return run.error();
  // Without one ncu has not come so far.
  if (auto text = read_file(files.log); text.ok()) log = *std::move(text);
  SOLSTICE_CHECK(keep(step, "log", log));
  std::error_code ignored;
  StepResult out;
  if (!std::filesystem::is_regular_file(files.report, ignored)) {
    out.failure = explain_failure(log, run, step.entry);
    return out;
  }
  out = read_report(files.report, step);
  if (run.ok() && run->verdict.outcome != Outcome::kPassed)
    out.notes.push_back("the profiled run failed: " + run->verdict.message);
  if (!run.ok()) out.notes.push_back("after the profiled run: " + run.error().text());
  return out;
}

Result<StepResult> Profiling::profile(const Plan& plan, const Step& step) {
  std::string log;
  SOLSTICE_TRY(StepResult out, profile_once(plan, step, log));
  const std::set<std::string> refused = out.failure ? refused_metrics(log, metrics_) : std::set<std::string>();
  if (refused.empty()) return out;
  std::vector<std::string> notes;
  drop(refused, notes);
  if (metrics_.empty() && !request_.sampling) return out;
  SOLSTICE_TRY(out, profile_once(plan, step, log));
  out.notes.insert(out.notes.begin(), notes.begin(), notes.end());
  return out;
}

// What is missing, in a line: failures, then values.
std::string missing_of(const std::vector<std::string>& failures, const std::vector<std::string>& notes) {
  std::string out;
  for (const std::string& failure : failures) {
    if (out.find(failure) == std::string::npos) out += (out.empty() ? "" : "; ") + failure;
  }
  if (notes.empty()) return out;
  if (!out.empty()) out += "; ";
  return out + notes[0] + (notes.size() > 1 ? fmt::format(", and {} more", notes.size() - 1) : "");
}

CounterRun without_ncu(const Error& error) {
  CounterRun out;
  out.source = {"counters", false, error.message, error.hint};
  return out;
}

}  // namespace

int launches_before(const Plan& plan, const Step& step) {
  int out = 0;
  for (const Phase phase : {Phase::kPrepare, Phase::kLaunch}) {
    for (const Step& other : plan.steps) {
      if (other.phase != phase) continue;
      if (other.name == step.name) return out;
      if (other.kind == StepKind::kLaunch && other.entry == step.entry) ++out;
    }
  }
  return out;
}

ProfiledWork with_judge(run::Judge& judge, const std::filesystem::path& plan, const run::JudgeCase& test) {
  return [&judge, plan, &test](const run::Profiler& profiler, const run::ProfileLimits& limits) {
    return judge.profile(plan, test, profiler, limits);
  };
}

Result<CounterRun> counters_of(const CounterRequest& request, const ProfiledWork& work) {
  const Seconds began = monotonic_now();
  const Deadline deadline(request.all);
  SOLSTICE_TRY(const Plan plan, read_profiled_plan(request.plan));
  SOLSTICE_TRY(const std::vector<const Step*> steps, find_steps(plan, request.steps));
  const Result<std::filesystem::path> ncu = request.ncu.empty() ? find_ncu() : request.ncu;
  if (!ncu.ok()) return without_ncu(ncu.error());
  CounterRun out;
  out.source.name = "counters";
  out.version = ncu_version(*ncu);
  Profiling profiling(request, work, *ncu);
  out.notes = profiling.choose_metrics(plan.target);
  std::vector<std::string> failures;
  for (const Step* step : steps) {
    if (deadline.passed() || is_asked(request.stop)) {
      failures.push_back(fmt::format("no time was left for `{}`", step->name));
      continue;
    }
    SOLSTICE_TRY(StepResult found, profiling.profile(plan, *step));
    for (const std::string& note : found.notes) out.notes.push_back(fmt::format("{}: {}", step->name, note));
    if (found.facts) out.steps[step->name] = *std::move(found.facts);
    if (!found.failure) continue;
    failures.push_back(found.failure->why);
    if (out.source.opens.empty()) out.source.opens = found.failure->opens;
    if (found.failure->of_all) break;
  }
  out.source.there = !out.steps.empty();
  out.source.why = missing_of(failures, out.notes);
  out.took = monotonic_now() - began;
  return out;
}

}  // namespace solstice::diagnose
