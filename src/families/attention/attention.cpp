// Family `attention`: contraction, row normaliser, contraction, with masks as domains; scores never leave the chip.
#include "families/declared.h"

namespace solstice::families {
namespace {

const std::vector<KnobSpec>& attention_knobs() {
  static const std::vector<KnobSpec> specs = {
      {"math",
       "name",
       {"simt", "tf32", "tf32x3", "bf16", "bf16x3", "bf16x6", "fp16", "fp16x3"},
       "",
       "auto",
       "how products are computed"},
      {"tile", "size", {}, "QUERIESxKEYS", "auto", "of a block", 2, 2},
      int_knob("stages", 1, 8, "auto", "key and value tiles in flight"),
      int_knob("split", 1, 64, "auto", "blocks that share the keys of a query tile"),
  };
  return specs;
}

}  // namespace

extern const Family solstice_families_attention;
const Family solstice_families_attention =
    declared_family("attention", "softmax attention and its relatives, masks as domains", attention_knobs);

}  // namespace solstice::families
