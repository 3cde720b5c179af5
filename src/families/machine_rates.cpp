#include "families/machine_rates.h"

#include <fmt/format.h>

namespace solstice::families {
namespace {

Result<BytesPerSecond> rate_of(const machine::Machine& machine, machine::Ceiling ceiling) {
  if (ceiling.per_second <= 0)
    return fail(Code::bad_machine, fmt::format("machine `{}` states no DRAM rate", machine.name));
  return BytesPerSecond(ceiling.per_second);
}

}  // namespace

Result<BytesPerSecond> copy_rate(const machine::Machine& machine) { return rate_of(machine, machine.copy_ceiling()); }
Result<BytesPerSecond> read_rate(const machine::Machine& machine) { return rate_of(machine, machine.read_ceiling()); }

FlopsPerSecond issue_rate(const machine::Machine& machine) {
  constexpr double kSchedulers = 4, kLanes = 32;  // of an SM since Volta: one warp instruction each a clock
  constexpr double kReached = 0.92;               // gelu of bf16, which they bound
  return FlopsPerSecond(kReached * machine.sm_count * kSchedulers * kLanes * machine.max_clock.value);
}

}  // namespace solstice::families
