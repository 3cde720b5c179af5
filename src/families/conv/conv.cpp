// Family `conv`: convolutions, forward and transposed, dilated, grouped, depthwise, in one to three dimensions.
#include "families/conv/cutlass.h"
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
      {"schedule", "name", {"sm90", "sm80"}, "", "sm90", "backend=cutlass: copy engine and wgmma, or the 2.x kernels"},
      {"backend", "name", {"lean", "cutlass"}, "", "auto", "whose kernels"},
  };
}

void check(const Context& context, const ir::Kernel& kernel, Diagnostics& diagnostics) {
  if (kernel.knobs.name_or("backend", "auto") != "cutlass") return;
  check_rules(conv::cutlass_rules(), conv::cutlass_config(context.program, kernel), kernel.span, diagnostics);
}

std::vector<RuleText> rules() { return texts_of(conv::cutlass_rules()); }

constexpr Family declared() {
  Family out = declared_family("conv", "convolutions of one to three dimensions, forward, transposed, grouped, depthwise", conv_knobs);
  out.check = check;
  out.rules = rules;
  return out;
}

}  // namespace

extern const Family solstice_families_conv;
const Family solstice_families_conv = declared();

}  // namespace solstice::families
