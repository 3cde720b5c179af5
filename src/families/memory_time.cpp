#include "families/memory_time.h"

#include <algorithm>
#include <map>

#include "codegen/access.h"
#include "families/emission.h"

namespace solstice::families {
namespace {

constexpr double kDirty = 0.42;     // of L2 that may hold lines to be written
constexpr double kDisplaced = 0.4;  // of such lines, for a byte that comes in
constexpr double kPort = 0.8;       // of an SM's port to L2

}  // namespace

Moved moved_by(const ir::Program& program, const codegen::FlatKernel& flat) {
  const std::vector<int> written = tensors_written(flat);
  Moved out;
  for (const auto& [tensor, bytes] : codegen::traffic_by_tensor(program, flat)) {
    const bool is_written = std::find(written.begin(), written.end(), tensor) != written.end();
    (is_written ? out.written : out.read) += bytes;
  }
  return out;
}

Result<Seconds> dram_time(const machine::Machine& machine, Moved moved) {
  SOLSTICE_TRY(const BytesPerSecond copy, copy_rate(machine));
  SOLSTICE_TRY(const BytesPerSecond read, read_rate(machine));
  // A byte copied is half a byte read and half a byte written.
  const double write = std::max(2 / copy.value - 1 / read.value, 0.5 / copy.value);
  const double lines = kDirty * machine.l2.value;
  const double displaced = std::min(lines, kDisplaced * moved.all().value) - std::min(lines, moved.written.value);
  return moved.read / read + Seconds(moved.written.value * write) + Bytes(std::max(displaced, 0.0)) / copy;
}

Seconds flow_time(const machine::Machine& machine, Bytes moved, double sms, Bytes in_flight, Seconds latency) {
  const double port = machine.l2_bytes_per_sm_per_clock * machine.max_clock.value * kPort;
  const double drawn = in_flight.value / latency.value;
  const double rate = port > 0 ? std::min(drawn, port) : drawn;
  return moved / BytesPerSecond(std::max(sms, 1.0) * std::max(rate, 1.0));
}

}  // namespace solstice::families
