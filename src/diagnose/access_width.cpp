#include "diagnose/access_width.h"

#include <fmt/format.h>

#include <algorithm>

namespace solstice::diagnose {
namespace {

constexpr double kWidest = 128, kWarpThreads = 32, kBitsOfByte = 8;

double resident_warps(const KernelView& view, const StepFacts& step) {
  const double threads = static_cast<double>(step.block[0] * step.block[1] * step.block[2]);
  const double blocks = static_cast<double>(step.grid[0] * step.grid[1] * step.grid[2]);
  const double most = step.occupancy ? static_cast<double>(step.occupancy->warps_per_sm) : view.machine.warps_per_sm;
  return std::min(most, blocks * threads / kWarpThreads / view.machine.sm_count);
}

// Of what a copy moves in one latency, the part in this direction.
double needed_bytes(const KernelView& view, bool store) {
  const std::optional<Seconds> latency = memory_latency(view.machine);
  double there = 0, all = 0;
  for (const TensorFacts& tensor : view.kernel.tensors) {
    all += tensor.bytes.value;
    there += tensor.written == store ? tensor.bytes.value : 0;
  }
  if (!latency || all <= 0) return 0;
  return view.machine.copy_ceiling().per_second * latency->value * there / all / view.machine.sm_count;
}

// As many bytes by fewer instructions, and fewer that make their addresses.
double gain_of_issue(const SassMix& code, const MeanAccess& found) {
  const double all = static_cast<double>(code.instructions);
  const double saved = (found.count + count_of(code, "address")) * (1 - found.bits / kWidest);
  return all / std::max(1.0, all - saved);
}

}  // namespace

double InFlight::gain() const { return bytes > 0 ? std::max(1.0, needed / bytes) : 1; }

InFlight in_flight(const KernelView& view, const StepFacts& step, bool store) {
  const SassMix* code = access_code(step, store);
  if (!code) return {};
  const MeanAccess found = mean_access(*code, "global", store);
  return {resident_warps(view, step) * kWarpThreads * found.count * found.bits / kBitsOfByte,
          needed_bytes(view, store)};
}

double NarrowAccess::gain() const { return std::max(by_flight, by_issue); }

std::string NarrowAccess::because() const {
  if (by_issue >= by_flight) return "if as many bytes took a quarter of the instructions and of their addresses";
  return fmt::format("if {:.0f} bytes an SM were in flight, where it has {:.0f}", flight.needed, flight.bytes);
}

std::optional<NarrowAccess> narrow_access(const KernelView& view, const StepFacts& step, bool store, double bits) {
  const SassMix* code = access_code(step, store);
  if (!code) return std::nullopt;
  NarrowAccess out;
  out.found = mean_access(*code, "global", store);
  if (out.found.count < 1 || out.found.bits > bits) return std::nullopt;
  out.flight = in_flight(view, step, store);
  out.by_flight = std::min(out.flight.gain(), kWidest / out.found.bits);
  out.by_issue = gain_of_issue(*code, out.found);
  return out;
}

}  // namespace solstice::diagnose
