#include "propose/moves/headroom.h"

#include <algorithm>
#include <map>

#include "record/kernel_facts.h"
#include "record/kernel_trace.h"

namespace solstice::propose {
namespace {

constexpr double kLeast = 0.1;  // of a kernel's time

using Times = std::map<std::string, Seconds>;  // by kernel

// The candidate's time in shares of what the cost models say.
Times apportioned(const search::Measurement& measurement) {
  Times out;
  Seconds sum;
  for (const Json& cost : measurement.record.at("costs").items()) {
    sum += out[cost.at("kernel").as_string()] = Seconds(cost.at("seconds").as_double());
  }
  const double scale = sum.value > 0 ? measurement.time / sum : 0;
  for (auto& [kernel, time] : out) time = time * scale;
  return out;
}

Times times_of(const search::Measurement& measurement) {
  Times out = apportioned(measurement);
  const Result<KernelTrace> trace = kernel_trace_of(measurement.record);
  if (!trace.ok()) return out;  // a damaged record: the cost models have the word
  for (const TracedKernel& kernel : trace->kernels) out[kernel.kernel] = kernel.measured;
  return out;
}

// Of each kernel the resource that it needs longest.
Times needs_of(const search::Measurement& measurement) {
  Times out;
  for (const KernelFacts& facts : kernel_facts_of(measurement.record)) {
    Seconds& longest = out[facts.kernel];
    for (const ResourceNeed& need : facts.needs) longest = std::max(longest, need.time);
  }
  return out;
}

}  // namespace

std::vector<Seconds> headroom_of(const std::vector<Axis>& axes, const search::Node& candidate) {
  std::vector<Seconds> out;
  if (!candidate.usable()) return out;
  const search::Measurement& measurement = *candidate.measurement;
  if (measurement.record.at("costs").size() == 0) return out;
  Times times = times_of(measurement), needs = needs_of(measurement);
  for (const Axis& axis : axes) {
    const Seconds time = times[axis.kernel];
    out.push_back(std::max(time - needs[axis.kernel], time * kLeast));
  }
  return out;
}

}  // namespace solstice::propose
