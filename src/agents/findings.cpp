#include "agents/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "agents/machine_use.h"
#include "base/integer.h"
#include "base/time_text.h"
#include "record/kernel_trace.h"

namespace solstice::agents {
namespace {

constexpr int64_t kThreadsOfWarp = 32, kFewWarps = 16;

// A guard's fallback on operands of a huge dynamic range (docs/numerics.md); it does not run in usual trials.
bool is_fallback(const Json& kernel) { return kernel.at("entry").as_string().ends_with("_fallback"); }

// "`solstice_up`", and whose else it is where kernels alike share one: "`solstice_up` (of `up`, `down` and 3 more)".
std::string name_of_function(const Json& kernel) {
  constexpr size_t kMost = 2;
  const Json& launches = kernel.at("launches");
  const std::string entry = fmt::format("`{}`", kernel.at("entry").as_string());
  if (launches.size() < 2) return entry;
  std::vector<std::string> names;
  for (const Json& launch : launches.items()) names.push_back(fmt::format("`{}`", launch.as_string()));
  const std::string last = names.size() > kMost ? fmt::format("{} more", names.size() - kMost) : names.back();
  names.resize(names.size() > kMost ? kMost : names.size() - 1);
  return fmt::format("{} (of {} and {})", entry, fmt::join(names, ", "), last);
}

std::string text_of_spill(const Json& kernel) {
  const int64_t spilled = kernel.at("spill_stores").as_int() + kernel.at("spill_loads").as_int();
  if (spilled == 0) return "";
  return fmt::format(
      "{} spills {} bytes a thread to local memory: fewer live values help (a smaller tile, less unrolling)",
      name_of_function(kernel), spilled);
}

std::string text_of_stack(const Json& kernel) {
  const int64_t stack = kernel.at("stack_bytes").as_int();
  const bool spills = kernel.at("spill_stores").as_int() > 0;
  if (stack == 0 || spills) return "";
  return fmt::format(
      "{} keeps {} bytes a thread in local memory: an array that is indexed by what the compiler does not know",
      name_of_function(kernel), stack);
}

std::string text_of_occupancy(const Json& kernel, const machine::Machine& machine, int64_t most_warps) {
  const int64_t registers = kernel.at("registers").as_int();
  if (registers <= 0) return "";
  const int64_t held = round_up(registers * kThreadsOfWarp, machine.register_unit);
  const int64_t warps = std::min<int64_t>(machine.warps_per_sm, machine.registers_per_sm / held);
  if (warps > most_warps) return "";
  return fmt::format("{} takes {} registers a thread, which leaves room for {} of {} warps on an SM",
                     name_of_function(kernel), registers, warps, machine.warps_per_sm);
}

// "the cost models give `gemm` (gemm) 531 us, 97 % of their sum".
std::vector<std::string> text_of_costs(const Json& costs) {
  double sum = 0;
  for (const Json& cost : costs.items()) sum += cost.at("seconds").as_double();
  std::vector<std::string> out;
  if (costs.size() < 2 || sum <= 0) return out;
  for (const Json& cost : costs.items()) {
    const double seconds = cost.at("seconds").as_double();
    out.push_back(fmt::format("the cost model gives kernel `{}` (by {}) {}, {:.0f} % of the sum, limited by {}",
                              cost.at("kernel").as_string(), cost.at("family").as_string(), time_text(Seconds(seconds)),
                              100 * seconds / sum, cost.at("bound").as_string()));
  }
  return out;
}

// "measured: kernel `a` 12.3 us (predicted 10.1 us), ..."; "" where it could not be taken. What is predicted is the
// cost models' word.
std::string text_of_trace(const Json& record, bool with_predictions) {
  Result<KernelTrace> trace = kernel_trace_of(record);
  if (!trace.ok()) return "the times by kernel cannot be read: " + trace.error().message;
  for (TracedKernel& kernel : trace->kernels) {
    if (!with_predictions) kernel.predicted.reset();
  }
  return trace->kernels.empty() ? "" : "measured: " + text_of(*trace);
}

}  // namespace

std::vector<std::string> findings_of(const search::Measurement& measurement, const machine::Machine& machine,
                                     bool sol) {
  std::vector<std::string> out;
  const auto add = [&](std::string text) {
    if (!text.empty() && std::find(out.begin(), out.end(), text) == out.end()) out.push_back(std::move(text));
  };
  const Json& costs = measurement.record.at("costs");
  add(text_of_trace(measurement.record, sol));
  if (sol && out.empty()) {  // the times by kernel say what is predicted too
    for (std::string& text : text_of_costs(costs)) add(std::move(text));
  }
  if (sol) add(text_of_use(measurement));
  add(text_of_choices(measurement));
  const int64_t worth_telling =
      costs.size() == 1 ? machine.warps_per_sm : kFewWarps;  // of a kernel alone there is little else to say
  for (const Json& module : measurement.record.at("modules").items()) {
    for (const Json& kernel : module.at("kernels").items()) {
      if (is_fallback(kernel)) continue;
      add(text_of_spill(kernel));
      add(text_of_stack(kernel));
      add(text_of_occupancy(kernel, machine, worth_telling));
    }
    for (const Json& note : module.at("notes").items()) add("ptxas: " + note.at("text").as_string());
  }
  return out;
}

std::string raw_counters(const search::Measurement& measurement) {
  Json kernels = Json::array();
  for (const Json& module : measurement.record.at("modules").items()) {
    for (const Json& kernel : module.at("kernels").items()) kernels.push(kernel);
  }
  return Json::object().set("kernels", kernels).set("seconds", measurement.record.at("seconds")).dump();
}

}  // namespace solstice::agents
