#include "diagnose/counters/counters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "base/clock.h"
#include "base/counted.h"
#include "base/file.h"
#include "diagnose/counters/ncu.h"
#include "diagnose/counters/profiling.h"

namespace solstice::diagnose {
namespace {

constexpr size_t kFirstTogether = 8;  // launches of the first process: nobody knows yet what one takes
constexpr size_t kMostTogether = 32;
constexpr Seconds kLeastLimit{10};  // ncu and CUDA alone take four to start
constexpr size_t kMostNamed = 3;    // steps in a line
constexpr const char* kNoTime = "no time was left";

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

// Reads batches of steps until all have answered or been given up.
class Reading {
 public:
  Reading(const CounterRequest& request, const Plan& plan, Profiling& profiling, std::vector<const Step*> steps,
          CounterRun& out)
      : request_(request), plan_(plan), profiling_(profiling), open_(std::move(steps)), left_(request.all), out_(out) {}

  Status read_all();

 private:
  LaunchBatch next() const;
  run::ProfileLimits limits_of(const LaunchBatch& batch) const;
  void take(const LaunchBatch& batch, BatchResult found);
  void give_up(const std::string& why);  // all that is left
  bool anything_left() const { return !alone_.empty() || !open_.empty(); }

  const CounterRequest& request_;
  const Plan& plan_;
  Profiling& profiling_;
  std::vector<const Step*> open_;
  std::deque<const Step*> alone_;  // that a shared process did not answer
  Deadline left_;
  size_t together_ = kFirstTogether;
  CounterRun& out_;
};

LaunchBatch Reading::next() const {
  return alone_.empty() ? batch_of(plan_, open_, together_) : batch_of(plan_, {alone_.front()}, 1);
}

// Half of what is left, where somebody else still has to be read: after this one, or if a shared process fails.
run::ProfileLimits Reading::limits_of(const LaunchBatch& batch) const {
  const bool last = batch.wanted.size() == 1 && alone_.size() + open_.size() == 1;
  const Seconds most = std::max(kLeastLimit, left_.left() * (last ? 1 : 0.5));
  run::ProfileLimits out = request_.limits;
  for (Seconds* limit : {&out.start, &out.work, &out.end}) *limit = std::min(*limit, most);
  return out;
}

void Reading::take(const LaunchBatch& batch, BatchResult found) {
  const auto is_read = [&](const Step* step) { return std::count(batch.wanted.begin(), batch.wanted.end(), step) > 0; };
  std::erase_if(open_, is_read);
  std::erase_if(alone_, is_read);
  out_.notes.insert(out_.notes.end(), found.notes.begin(), found.notes.end());
  for (const Step* step : batch.wanted) {
    const auto facts = found.steps.find(step->name);
    if (facts != found.steps.end()) {
      out_.steps[step->name] = std::move(facts->second);
      out_.source.missing.erase(step->name);
      continue;
    }
    out_.source.missing[step->name] = found.failure->why;
    if (batch.wanted.size() > 1) alone_.push_back(step);
  }
  if (!found.failure) return;
  const bool final = batch.wanted.size() == 1 || found.failure->of_all;
  if (out_.source.opens.empty() && final) out_.source.opens = found.failure->opens;
  if (found.failure->of_all) give_up(found.failure->why);
}

// Those that a shared process did not answer have a reason already.
void Reading::give_up(const std::string& why) {
  for (const Step* step : open_) out_.source.missing[step->name] = why;
  alone_.clear();
  open_.clear();
}

Status Reading::read_all() {
  while (anything_left() && !left_.passed() && !is_asked(request_.stop)) {
    const LaunchBatch batch = next();
    const Seconds began = monotonic_now();
    SOLSTICE_TRY(BatchResult found, profiling_.profile(batch, limits_of(batch)));
    ++out_.processes;
    take(batch, std::move(found));
    // The start of ncu is in it, so that a launch is taken for longer than it is.
    const double each = (monotonic_now() - began).value / static_cast<double>(batch.launches.size());
    together_ = static_cast<size_t>(std::clamp(0.5 * left_.left().value / each, 1.0, double{kMostTogether}));
  }
  if (!anything_left()) return success();
  give_up(kNoTime);
  if (out_.source.opens.empty()) out_.source.opens = "a longer time: `solstice profile --counter-time`";
  return success();
}

// What is missing, in a line: steps by their reason, then values. Of a source that says nothing at all, the reasons.
std::string missing_of(const CounterRun& run) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const auto& [step, why] : run.source.missing) by_reason[why].push_back(step);
  std::vector<std::string> parts;
  for (const auto& [why, steps] : by_reason)
    parts.push_back(run.steps.empty() && why != kNoTime ? why
                                                        : fmt::format("{}: {}", first_names(steps, kMostNamed), why));
  if (!run.notes.empty())
    parts.push_back(run.notes[0] + (run.notes.size() > 1 ? fmt::format(", and {} more", run.notes.size() - 1) : ""));
  return fmt::format("{}", fmt::join(parts, "; "));
}

CounterRun without_ncu(const Error& error) {
  CounterRun out;
  out.source = {"counters", false, error.message, error.hint};
  return out;
}

}  // namespace

ProfiledWork with_judge(run::Judge& judge, const std::filesystem::path& plan, const run::JudgeCase& test) {
  return [&judge, plan, &test](const run::Profiler& profiler, const run::ProfileLimits& limits) {
    return judge.profile(plan, test, profiler, limits);
  };
}

Result<CounterRun> counters_of(const CounterRequest& request, const ProfiledWork& work) {
  const Seconds began = monotonic_now();
  SOLSTICE_TRY(const Plan plan, read_profiled_plan(request.plan));
  SOLSTICE_TRY(std::vector<const Step*> steps, find_steps(plan, request.steps));
  const Result<std::filesystem::path> ncu = request.ncu.empty() ? find_ncu() : request.ncu;
  if (!ncu.ok()) return without_ncu(ncu.error());
  CounterRun out;
  out.source.name = "counters";
  out.version = ncu_version(*ncu);
  Profiling profiling(request, work, *ncu);
  out.notes = profiling.choose_metrics(plan.target);
  SOLSTICE_CHECK(Reading(request, plan, profiling, std::move(steps), out).read_all());
  out.source.there = !out.steps.empty();
  out.source.why = missing_of(out);
  out.took = monotonic_now() - began;
  return out;
}

}  // namespace solstice::diagnose
