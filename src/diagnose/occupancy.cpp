#include "diagnose/occupancy.h"

#include <algorithm>

#include "base/integer.h"
#include "machine/registers.h"

namespace solstice::diagnose {
namespace {

constexpr int64_t kWarp = 32;
constexpr int64_t kSharedUnit = 128;  // bytes in which a block gets shared memory (cuda_occupancy.h)

struct Limit {
  const char* name;
  int64_t blocks;
};

}  // namespace

std::optional<OccupancyFacts> occupancy_of(const machine::Machine& machine, const BlockNeeds& needs) {
  const int64_t warps = ceil_div(needs.threads, kWarp);
  const auto reserved = static_cast<int64_t>(machine.shared_reserved_per_block.value);
  const auto shared = static_cast<int64_t>(machine.shared_per_sm.value);
  const Limit limits[] = {{"threads", machine.warps_per_sm / warps},
                          {"blocks", machine.blocks_per_sm},
                          {"registers", machine::blocks_by_registers(machine, needs.threads, needs.registers)},
                          {"shared", shared / round_up(needs.shared_bytes + reserved, kSharedUnit)}};
  const Limit& least =
      *std::min_element(std::begin(limits), std::end(limits), [](auto& a, auto& b) { return a.blocks < b.blocks; });
  if (least.blocks < 1) return std::nullopt;
  OccupancyFacts out;
  out.blocks_per_sm = least.blocks;
  out.warps_per_sm = least.blocks * warps;
  out.limited_by = least.name;
  const int64_t clusters = machine.clusters_at_once(needs.cluster, least.blocks);
  out.waves = static_cast<double>(needs.blocks) / static_cast<double>(clusters * std::max<int64_t>(1, needs.cluster));
  return out;
}

std::optional<BlockNeeds> needs_of(const StepFacts& step) {
  if (!step.registers || !step.shared_bytes) return std::nullopt;
  const auto product = [](const std::array<int64_t, 3>& extents) { return extents[0] * extents[1] * extents[2]; };
  return BlockNeeds{product(step.block), *step.registers, *step.shared_bytes, product(step.cluster),
                    product(step.grid)};
}

}  // namespace solstice::diagnose
