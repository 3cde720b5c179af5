// Family `recurrent`: recurrences whose step contains a contraction (LSTM, GRU, RNN): one persistent kernel.
#include "families/declared.h"

namespace solstice::families {
namespace {

std::vector<KnobSpec> recurrent_knobs() {
  return {
      {"math", "name", {"simt", "tf32", "tf32x3", "bf16", "bf16x3", "bf16x6", "fp16", "fp16x3"}, "", "auto", "how products are computed"},
      {"weights", "name", {"registers", "shared", "l2"}, "", "auto", "where the recurrent weights stay"},
      {"ctas", "int", {}, "1..the machine's SMs", "auto", "blocks that share a step"},
  };
}

}  // namespace

extern const Family solstice_families_recurrent;
const Family solstice_families_recurrent =
    declared_family("recurrent", "recurrences with a contraction in their step: weights stay on chip", recurrent_knobs);

}  // namespace solstice::families
