#include "evaluate/gpu_meter.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "evaluate/by_kernel.h"
#include "evaluate/findings/counter_facts.h"
#include "run/timing_stats.h"

namespace solstice::evaluate {
namespace {

constexpr Seconds kSlow{0.1};              // one repetition tells the time of a candidate this slow
constexpr int kTraced = 2;                 // repetitions of a trace
constexpr double kWorthDiagnosing = 1.25;  // times the best so far: what a search may go on from
constexpr double kWorth =
    4;  // times the best so far: slower ones are not traced; 4 to 5 ms of host time each (H200, 1 Mi floats)

void judged(const Verdict& verdict, search::Measurement& out) {
  out.state = state_of(verdict);
  out.detail = verdict.message;
  out.record.set("verdict", to_json(verdict));
}

// Normwise, over the policy's limit; nothing where no limit is known.
std::optional<double> worst_error(const Json& verdict) {
  std::optional<double> out;
  for (const Json& test : verdict.at("cases").items()) {
    for (const Json& output : test.at("outputs").items()) {
      const double limit = output.at("limit_normwise").as_double();
      if (limit > 0) out = std::max(out.value_or(0), output.at("normwise").as_double() / limit);
    }
  }
  return out;
}

}  // namespace

TrialState state_of(const Verdict& verdict) {
  switch (verdict.outcome) {
    case Outcome::kPassed:
      return TrialState::kVerified;
    case Outcome::kCrashed:
    case Outcome::kLoadFailed:
    case Outcome::kOutOfMemory:
      return TrialState::kCrashed;
    case Outcome::kHung:
      return TrialState::kHung;
    default:
      return TrialState::kWrong;
  }
}

GpuMeter::GpuMeter(const TrialBuilds& builds, run::Judge& judge, const std::vector<run::JudgeCase>& cases,
                   GpuMeterOptions options)
    : builds_(builds), judge_(judge), cases_(cases), options_(std::move(options)) {}

int GpuMeter::repetitions(search::Precision precision) const {
  constexpr int kFewest = 3;
  if (precision == search::Precision::kRough) return std::max(kFewest, options_.repetitions / 4);
  return precision == search::Precision::kUsual ? options_.repetitions : 4 * options_.repetitions;
}

// What is right is read while it is timed: without places, which cost a compilation.
void GpuMeter::begin_reading(BegunTrial& trial) {
  std::erase_if(unread_, [](const CodeReading& reading) { return reading.done(); });
  if (!wants_places()) trial.code = CodeReading(*trial.candidate.built());
}

Status GpuMeter::judge(BegunTrial& trial, search::Measurement& out, Verdict& verdict) {
  const search::Precision precision = trial.precision;
  const std::vector<run::JudgeCase> first(cases_.begin(), cases_.begin() + 1);
  SOLSTICE_TRY(verdict, judge_.verify(builds_.plan_of(trial.node), first));
  if (verdict.passed()) {
    begin_reading(trial);
    const bool slow = verdict.cases.back().wall > kSlow;
    SOLSTICE_TRY(const run::TimedBlock block, judge_.time_block(cases_, slow ? 1 : repetitions(precision)));
    if (!block.verdict.passed()) verdict = block.verdict;
    if (!block.seconds.empty()) out.time = Seconds(run::median(block.seconds));
    out.noise = search::noise_of_median(block.seconds, out.time.value);
    out.record.set("seconds", [&] {
      Json list = Json::array();
      for (double s : block.seconds) list.push(s);
      return list;
    }());
  }
  judged(verdict, out);
  if (out.state == TrialState::kVerified && options_.bounds) {
    if (const std::string why = sol::violation(*options_.bounds, out.time, sol::Cache::kCold); !why.empty()) {
      out.state = TrialState::kWrong;
      out.detail = why;
    }
  }
  return success();
}

Status GpuMeter::judge_further(const Plan& plan, const Verdict& passed, search::Measurement& out) {
  const bool given =
      std::any_of(plan.modules.begin(), plan.modules.end(), [](const PlanModule& module) { return module.given; });
  if (!options_.further || !given || !is_best(out)) return success();
  SOLSTICE_TRY(const Verdict found, options_.further(passed));
  if (!found.passed()) judged(found, out);
  return success();
}

// A trace fills, runs and checks as a short timing does: it is left to those that a search may go on from.
void GpuMeter::trace(const Plan& plan, Facts* facts, search::Measurement& out) {
  const bool behind = best_.value > 0 && out.time > best_ * kWorth;
  const bool alone = steps_of_call(plan) < 2 && !options_.diagnosis.keep_facts;
  if (out.state != TrialState::kVerified || behind || alone) return;
  const Result<KernelTrace> found = traced(plan, facts, out);
  out.record.set("trace", to_json(found.ok() ? *found : KernelTrace{{}, found.error().message}));
  if (facts && !found.ok()) set_source({"trace", false, found.error().message, found.error().hint}, *facts);
}

// A failure of tracing itself is an error, and costs the trial nothing; a traced result that is wrong refuses the
// candidate.
Result<KernelTrace> GpuMeter::traced(const Plan& plan, Facts* facts, search::Measurement& out) {
  SOLSTICE_TRY(const RunnerHello runner, judge_.runner());
  if (!runner.cupti) return fail(Code::no_driver, runner.cupti_note);
  const int repetitions = out.time > kSlow ? 1 : kTraced;
  SOLSTICE_TRY(run::TimedBlock block, judge_.time_block(cases_, repetitions, run::Tracer::kCupti));
  if (block.verdict.passed()) {
    SOLSTICE_TRY(KernelTrace trace, by_kernel(plan, block, out.record.at("costs")));
    if (facts) SOLSTICE_CHECK(add_trace(plan, block, trace, *facts));
    return trace;
  }
  block.verdict.message = "traced: " + block.verdict.message;
  if (!only_tracing_failed(block.verdict)) judged(block.verdict, out);
  return fail(Code::candidate_failed, block.verdict.message);
}

Facts GpuMeter::facts_of(const Preparation& candidate, const search::Measurement& measured) const {
  Facts out = candidate.facts(builds_.setting(), options_.bounds);
  out.measured = measured.time;
  out.error = worst_error(measured.record.at("verdict"));
  out.clocks = judge_.clocks();
  if (const Result<RunnerHello> runner = judge_.runner(); runner.ok()) out.device = runner->gpu;
  return out;
}

void GpuMeter::count(int node, Facts& facts) {
  const Status counted = add_counters(builds_.plan_of(node), judge_, cases_.front(), options_.diagnosis, facts);
  if (!counted.ok()) set_source({"counters", false, counted.error().message, counted.error().hint}, facts);
}

// What is far behind the best is traced for the record, and not diagnosed. What the GPU is not needed for goes on by
// itself.
void GpuMeter::begin_diagnosis(BegunTrial& trial, search::Measurement& out) {
  if (out.state != TrialState::kVerified) return;
  const Built& built = *trial.candidate.built();
  const bool behind = best_.value > 0 && out.time > best_ * kWorthDiagnosing;
  if (behind && !options_.diagnosis.keep_facts) return trace(built.plan, nullptr, out);
  const Seconds began = monotonic_now();
  Facts facts = facts_of(trial.candidate, out);
  const Seconds took = monotonic_now() - began;
  trace(built.plan, &facts, out);
  if (out.state != TrialState::kVerified) return;
  if (options_.diagnosis.counters) count(trial.node, facts);
  // Places cost a compilation: nothing beside counters, much beside a trial.
  const CodeToRead code{&built, wants_places() ? trial.candidate.compiler() : nullptr, std::move(trial.code)};
  trial.diagnosis = Diagnosing(std::move(facts), code, builds_.setting(), options_.diagnosis, took);
}

Result<search::Measurement> GpuMeter::measure(BegunTrial& trial) {
  Preparation& candidate = trial.candidate;
  SOLSTICE_CHECK(candidate.finish());
  if (trial.best.value > 0 && (best_.value <= 0 || trial.best < best_)) best_ = trial.best;
  const Seconds began = monotonic_now();
  search::Measurement out;
  out.record = candidate.record();
  if (candidate.refused()) {
    out.state = candidate.state();
    out.detail = candidate.why();
  } else {
    SOLSTICE_CHECK(write_build(*candidate.built(), builds_.folder_of(trial.node)));
    const Seconds ready = monotonic_now();
    const std::optional<double> used = judge_.joules();
    Verdict verdict;
    SOLSTICE_CHECK(judge(trial, out, verdict));
    SOLSTICE_CHECK(judge_further(candidate.built()->plan, verdict, out));
    begin_diagnosis(trial, out);
    if (trial.code.begun()) unread_.push_back(std::move(trial.code));
    out.record.set("measuring", (monotonic_now() - ready).value);
    if (const std::optional<double> now = judge_.joules(); used && now) out.joules = *now - *used;
    if (options_.gpu) out.record.set("gpu", *options_.gpu);
    if (is_best(out)) best_ = out.time;
  }
  out.cost = candidate.cost() + (monotonic_now() - began);
  return out;
}

}  // namespace solstice::evaluate
