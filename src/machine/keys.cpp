#include "machine/keys.h"

namespace solstice::machine {

const std::vector<Key>& machine_keys() {
  static const std::vector<Key> keys = {
      {"name", &Machine::name},
      {"title", &Machine::title},
      {"device", &Machine::device},
      {"arch", &Machine::arch},
      {"source", &Machine::source},
      {"max_clock", &Machine::max_clock},
      {"power_limit", &Machine::power_limit},
      {"memory.size", &Machine::memory},
      {"memory.rate", &Machine::dram_rate},
      {"memory.sector", &Machine::sector},
      {"l2.size", &Machine::l2},
      {"l2.bytes_per_sm_per_clock", &Machine::l2_bytes_per_sm_per_clock},
      {"sm.count", &Machine::sm_count},
      {"sm.shared", &Machine::shared_per_sm},
      {"sm.registers", &Machine::registers_per_sm},
      {"sm.register_unit", &Machine::register_unit},
      {"sm.warps", &Machine::warps_per_sm},
      {"sm.blocks", &Machine::blocks_per_sm},
      {"block.shared", &Machine::shared_per_block},
      {"block.shared_reserved", &Machine::shared_reserved_per_block},
      {"block.threads", &Machine::threads_per_block},
      {"block.registers_per_thread", &Machine::registers_per_thread},
      {"block.max_cluster", &Machine::max_cluster},
      {"feature.tma", &Machine::tma},
      {"feature.wgmma", &Machine::wgmma},
  };
  return keys;
}

const std::vector<MeasuredKey>& measured_keys() {
  static const std::vector<MeasuredKey> keys = {
      {"copy", &Measured::copy},
      {"read", &Measured::read},
      {"write", &Measured::write},
      {"l2_read", &Measured::l2_read},
      {"launch", &Measured::launch},
      {"eager_launch", &Measured::eager_launch},
      {"grid_sync", &Measured::grid_sync},
      {"date", &Measured::date},
      {"versions", &Measured::versions},
      {"command", &Measured::command},
      {"clusters_of_4", &Measured::clusters_of_4},
      {"clusters_of_8", &Measured::clusters_of_8},
  };
  return keys;
}

}  // namespace solstice::machine
