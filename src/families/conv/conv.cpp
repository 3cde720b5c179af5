// Family `conv`: convolutions, forward and transposed, dilated, grouped, depthwise, in one to three dimensions.
#include "families/declared.h"

namespace solstice::families {
namespace {

std::vector<KnobSpec> conv_knobs() {
  return {
      {"math", "name", {"simt", "tf32", "tf32x3", "bf16", "bf16x3", "bf16x6", "fp16", "fp16x3"}, "", "auto", "how products are computed"},
      {"tile", "size", {}, "MxNxK", "auto", "output pixels x output channels x depth of a block"},
      {"cluster", "size", {"1x1", "2x1", "1x2"}, "", "auto", "blocks that share operands"},
      {"stages", "int", {}, "2..8", "auto", "tiles in flight"},
      {"split", "name", {"none", "parity"}, "", "auto", "parity: a transposed convolution as one convolution a residue"},
      {"backend", "name", {"lean", "cutlass"}, "", "auto", "whose kernels"},
  };
}

}  // namespace

extern const Family solstice_families_conv;
const Family solstice_families_conv =
    declared_family("conv", "convolutions of one to three dimensions, forward, transposed, grouped, depthwise", conv_knobs);

}  // namespace solstice::families
