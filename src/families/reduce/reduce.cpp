// Family `reduce`: reductions whose result is smaller than a launch has blocks: two stages, or the last block to end.
#include "families/declared.h"

namespace solstice::families {
namespace {

std::vector<KnobSpec> reduce_knobs() {
  return {
      {"threads", "int", {"128", "256", "512", "1024"}, "", "auto", "threads a block"},
      {"vector", "int", {"1", "2", "4", "8"}, "", "auto", "elements a thread takes at once"},
      int_knob("split", 1, 4096, "auto", "blocks that share one result"),
      {"finish", "name", {"second_launch", "last_block"}, "", "auto", "who adds up the blocks' parts"},
  };
}

}  // namespace

extern const Family solstice_families_reduce;
const Family solstice_families_reduce =
    declared_family("reduce", "reductions over most of a tensor: statistics a channel, losses", reduce_knobs);

}  // namespace solstice::families
