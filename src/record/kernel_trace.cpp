#include "record/kernel_trace.h"

#include <fmt/format.h>

#include "base/time_text.h"

namespace solstice {
namespace {

// From here on a kernel is said to be beyond its model. Less is no news: the models' own errors are of that size.
constexpr double kBeyond = 1.5;

std::string listed(const std::vector<std::string>& items) { return fmt::format("{}", fmt::join(items, ", ")); }

std::string text_of(const TracedKernel& kernel) {
  std::vector<std::string> details, steps;
  if (kernel.predicted) details.push_back("predicted " + time_text(*kernel.predicted));
  for (const TracedStep& step : kernel.steps)
    steps.push_back(fmt::format("`{}` {}", step.step, time_text(step.measured)));
  if (!steps.empty()) details.push_back(listed(steps));
  const std::string brackets = details.empty() ? "" : fmt::format(" ({})", fmt::join(details, "; "));
  return fmt::format("`{}` {}{}", kernel.kernel, time_text(kernel.measured), brackets);
}

std::string beyond_text(const TracedKernel& kernel) {
  if (!kernel.predicted || kernel.predicted->value <= 0) return "";
  const double factor = kernel.measured / *kernel.predicted;
  return factor < kBeyond ? "" : fmt::format("`{}` is {:.1f}x beyond its model", kernel.kernel, factor);
}

}  // namespace

Result<KernelTrace> kernel_trace_of(const Json& record) {
  const Json* const trace = record.find("trace");
  return trace ? from_json<KernelTrace>(*trace) : Result<KernelTrace>(KernelTrace());
}

std::string text_of(const KernelTrace& trace) {
  std::vector<std::string> times, beyond;
  for (const TracedKernel& kernel : trace.kernels) {
    times.push_back(text_of(kernel));
    if (std::string text = beyond_text(kernel); !text.empty()) beyond.push_back(std::move(text));
  }
  if (times.empty()) return "";
  return fmt::format("kernel {}{}{}", listed(times), beyond.empty() ? "" : ": ", listed(beyond));
}

}  // namespace solstice
