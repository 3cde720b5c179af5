#include "evaluate/by_kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "families/emission.h"
#include "run/timing_stats.h"

namespace solstice::evaluate {
namespace {

// The name by which CUPTI reports it.
std::string traced_name(const Step& step) {
  if (step.kind == StepKind::kLaunch) return step.entry;
  return step.kind == StepKind::kMemset ? "memset" : "memcpy";
}

Result<std::vector<Seconds>> medians_of(const run::TimedBlock& traced) {
  std::vector<Seconds> out;
  for (size_t i = 0; i < traced.activities.size(); ++i) {
    std::vector<double> seconds;
    for (const std::vector<double>& repetition : traced.activity_seconds) {
      if (repetition.size() != traced.activities.size()) break;
      seconds.push_back(repetition[i]);
    }
    if (seconds.empty() || seconds.size() != traced.seconds.size()) {
      return fail(Code::candidate_failed, "the trace does not have a time of every activity in every repetition");
    }
    out.emplace_back(run::median(seconds));
  }
  return out;
}

std::optional<Seconds> predicted_of(const std::string& kernel, const Json& costs) {
  for (const Json& cost : costs.items()) {
    if (cost.at("kernel").as_string() == kernel) return Seconds(cost.at("seconds").as_double());
  }
  return std::nullopt;
}

TracedKernel& kernel_named(const std::string& name, const Json& costs, KernelTrace& trace) {
  for (TracedKernel& kernel : trace.kernels) {
    if (kernel.kernel == name) return kernel;
  }
  TracedKernel& out = trace.kernels.emplace_back();
  out.kernel = name;
  out.predicted = predicted_of(name, costs);
  return out;
}

}  // namespace

int steps_of_call(const Plan& plan) {
  return static_cast<int>(std::count_if(plan.steps.begin(), plan.steps.end(),
                                        [](const Step& step) { return step.phase == Phase::kLaunch; }));
}

// Steps of one stream start in order; where names are alike, the earlier one ran first.
Result<std::vector<const Step*>> steps_that_ran(const Plan& plan, const run::TimedBlock& traced) {
  std::vector<const Step*> left, out;
  for (const Step& step : plan.steps) {
    if (step.phase == Phase::kLaunch) left.push_back(&step);
  }
  for (const std::string& activity : traced.activities) {
    const auto found =
        std::find_if(left.begin(), left.end(), [&](const Step* step) { return traced_name(*step) == activity; });
    if (found == left.end())
      return fail(Code::candidate_failed, fmt::format("the trace has `{}` more often than the plan", activity));
    out.push_back(*found);
    left.erase(found);
  }
  if (left.empty()) return out;
  return fail(Code::candidate_failed, fmt::format("step `{}` of the plan is not in the trace", left.front()->name));
}

Result<KernelTrace> by_kernel(const Plan& plan, const run::TimedBlock& traced, const Json& costs) {
  SOLSTICE_TRY(const std::vector<const Step*> steps, steps_that_ran(plan, traced));
  SOLSTICE_TRY(const std::vector<Seconds> seconds, medians_of(traced));
  KernelTrace out;
  for (size_t i = 0; i < steps.size(); ++i) {
    TracedKernel& kernel = kernel_named(std::string(families::kernel_of_step(steps[i]->name)), costs, out);
    kernel.measured += seconds[i];
    kernel.steps.push_back({steps[i]->name, seconds[i]});
  }
  for (TracedKernel& kernel : out.kernels) {
    if (kernel.steps.size() == 1) kernel.steps.clear();
  }
  return out;
}

bool only_tracing_failed(const Verdict& verdict) {
  return verdict.outcome == Outcome::kCrashed || verdict.outcome == Outcome::kHung ||
         verdict.outcome == Outcome::kLoadFailed || verdict.outcome == Outcome::kOutOfMemory;
}

}  // namespace solstice::evaluate
