#include "diagnose/access_width.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "diagnose/place.h"
#include "diagnose/product_shape.h"

namespace solstice::diagnose {
namespace {

constexpr double kWidest = 128, kWarpThreads = 32, kBitsOfByte = 8;

double resident_warps(const KernelView& view, const StepFacts& step) {
  const double threads = static_cast<double>(step.block[0] * step.block[1] * step.block[2]);
  const double blocks = static_cast<double>(step.grid[0] * step.grid[1] * step.grid[2]);
  const double most = step.occupancy ? static_cast<double>(step.occupancy->warps_per_sm) : view.machine.warps_per_sm;
  return std::min(most, blocks * threads / kWarpThreads / view.machine.sm_count);
}

// As many bytes by fewer instructions, and fewer that make their addresses.
double gain_of_issue(const SassMix& code, const MeanAccess& found) {
  const double all = static_cast<double>(code.instructions);
  const double saved = (found.count + count_of(code, "address")) * (1 - found.bits / kWidest);
  return all / std::max(1.0, all - saved);
}

// Elements a thread that make 16 bytes of what it has now; then less.
std::vector<std::string> wider_vectors(const KernelSheet& kernel, double bits) {
  const int64_t now = std::max<int64_t>(1, number_knob(kernel, "vector"));
  std::vector<std::string> out;
  const auto most = static_cast<uint64_t>(static_cast<double>(now) * kWidest / bits);
  for (auto vector = static_cast<int64_t>(std::bit_floor(most)); vector > now; vector /= 2)
    out.push_back(std::to_string(vector));
  return out;
}

}  // namespace

double needed_in_flight(const KernelView& view, bool store) {
  const std::optional<Seconds> latency = memory_latency(view.machine);
  double there = 0, all = 0;
  for (const TensorFacts& tensor : view.kernel.tensors) {
    all += tensor.bytes.value;
    there += tensor.written == store ? tensor.bytes.value : 0;
  }
  if (!latency || all <= 0) return 0;
  return view.machine.copy_ceiling().per_second * latency->value * there / all / view.machine.sm_count;
}

double InFlight::gain() const { return bytes > 0 ? std::max(1.0, needed / bytes) : 1; }

InFlight in_flight(const KernelView& view, const StepFacts& step, bool store) {
  const SassMix* code = access_code(step, store);
  if (!code) return {};
  const MeanAccess found = mean_access(*code, "global", store);
  return {resident_warps(view, step) * kWarpThreads * found.count * found.bits / kBitsOfByte,
          needed_in_flight(view, store)};
}

double NarrowAccess::gain() const { return std::max(by_flight, by_issue); }

std::string NarrowAccess::because() const {
  if (by_issue >= by_flight) return "if as many bytes took a quarter of the instructions and of their addresses";
  return fmt::format("if wider accesses had more in flight: {:.0f} B an SM, where {:.0f} hide memory's latency",
                     flight.bytes, flight.needed);
}

std::optional<NarrowAccess> narrow_access(const KernelView& view, const StepFacts& step, bool store, double bits) {
  const SassMix* code = access_code(step, store);
  if (!code || (!store && count_of(step.sass->mix, "tma") > 0)) return std::nullopt;
  NarrowAccess out;
  out.found = mean_access(*code, "global", store);
  if (out.found.count < 1 || out.found.bits > bits) return std::nullopt;
  out.flight = in_flight(view, step, store);
  // Too few hide no latency, and what each byte more of them brings is not known.
  out.by_flight = out.flight.gain() > 1 ? kWidest / out.found.bits : 1;
  out.by_issue = gain_of_issue(*code, out.found);
  return out;
}

void find_narrow_accesses(const Tool& tool, const KernelView& view, bool store, std::vector<Finding>& out) {
  const char* const what = store ? "stores" : "loads";
  for (const StepFacts* step : view.steps()) {
    if (view.steps().size() > 1 && !step->measured) continue;  // which of them takes the time is not known
    const auto narrow = narrow_access(view, *step, store, tool.threshold("bits"));
    if (!narrow || narrow->gain() < tool.threshold("gain")) continue;
    const MeanAccess& found = narrow->found;
    Finding finding = finding_on(
        tool, view,
        fmt::format("the {} of `{}` move {:.0f} bits a thread where 128 would do", what, step->entry, found.bits),
        view.gain_of(*step, narrow->gain(), narrow->because()));
    finding.place.step = step->step;
    name_place(*step, access_code(*step, store), narrow_accesses("global", store), finding);
    finding.evidence.push_back(evidence(fmt::format("global {}", what), found.count, "instructions", "sass"));
    finding.evidence.push_back(evidence("mean width", found.bits, "bits", "sass"));
    if (narrow->flight.needed > 0) {
      finding.evidence.push_back(evidence("in flight", narrow->flight.bytes, "B an SM", "plan"));
      finding.evidence.push_back(evidence("to hide memory's latency", narrow->flight.needed, "B an SM", "plan"));
    }
    if (auto wider = view.setting("vector", wider_vectors(view.kernel, found.bits), "wider accesses"))
      finding.actions.push_back(std::move(*wider));
    finding.actions.push_back(advice("vectors of 16 bytes: contiguous elements a thread, aligned rows"));
    finding.confidence = Confidence::kLow;
    out.push_back(std::move(finding));
  }
}

}  // namespace solstice::diagnose
