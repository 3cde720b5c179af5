#include "machine/registers.h"

#include <algorithm>

#include "base/integer.h"

namespace solstice::machine {
namespace {

constexpr int64_t kWarp = 32;
constexpr int64_t kQuarters = 4;

int64_t registers_of_warp(const Machine& machine, int64_t registers_a_thread) {
  return round_up(std::max<int64_t>(registers_a_thread, 1) * kWarp, machine.register_unit);
}

}  // namespace

int64_t registers_of_block(const Machine& machine, int64_t threads, int64_t registers_a_thread) {
  return round_up(ceil_div(threads, kWarp), kQuarters) * registers_of_warp(machine, registers_a_thread);
}

int64_t blocks_by_registers(const Machine& machine, int64_t threads, int64_t registers_a_thread) {
  if (registers_of_block(machine, threads, registers_a_thread) > machine.registers_per_sm) return 0;
  const int64_t warps_of_quarter =
      machine.registers_per_sm / kQuarters / registers_of_warp(machine, registers_a_thread);
  return warps_of_quarter * kQuarters / ceil_div(threads, kWarp);
}

}  // namespace solstice::machine
