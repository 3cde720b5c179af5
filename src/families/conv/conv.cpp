// Family `conv`: convolutions, forward and transposed, dilated, grouped, depthwise, in one to three dimensions.
#include <fmt/ranges.h>

#include <algorithm>

#include "families/conv/convolution.h"
#include "families/conv/cutlass.h"
#include "families/declared.h"
#include "families/written_math.h"

namespace solstice::families {
namespace {

const std::vector<KnobSpec>& conv_knobs() {
  static const std::vector<KnobSpec> specs = {
      {"math",
       "name",
       {"simt", "tf32", "tf32x3", "bf16", "bf16x3", "bf16x6", "fp16", "fp16x3"},
       "",
       "auto",
       "how products are computed"},
      {"tile", "size", {}, "MxN, MxNxK", "auto", "output pixels x output channels x depth of a block", 2, 3},
      {"cluster",
       "size",
       {},
       "1x1, 2x1, 1x2; backend=cutlass: powers of two, at most 8 blocks",
       "auto",
       "blocks that share operands",
       2,
       3},
      {"stages", "int", {}, "2..8; backend=cutlass: as many as fit", "auto", "tiles in flight"},
      {"split",
       "name",
       {"none", "parity"},
       "",
       "auto",
       "parity: a transposed convolution as one convolution a residue"},
      {"schedule", "name", {"sm90", "sm80"}, "", "sm90", "backend=cutlass: copy engine and wgmma, or the 2.x kernels"},
      {"backend", "name", {"lean", "cutlass"}, "", "auto", "whose kernels"},
  };
  return specs;
}

// What the family's own kernels are told (`backend=lean`): none is built yet.
struct LeanConv {
  int64_t stages = 2;
  std::vector<int64_t> cluster = {1, 1};
  std::vector<std::pair<std::string, std::string>> knobs() const {
    return {{"stages", std::to_string(stages)}, {"cluster", fmt::format("{}", fmt::join(cluster, "x"))}};
  }
};

bool shares_one_operand(const std::vector<int64_t>& cluster) {
  return cluster.size() == 2 && cluster[0] >= 1 && cluster[1] >= 1 && cluster[0] * cluster[1] <= 2;
}

const std::vector<Rule<LeanConv>>& lean_conv_rules() {
  static const std::vector<Rule<LeanConv>> rules = {
      {"lean.cluster", "E112", Severity::kError, "one operand is shared, by 1 or 2 blocks: 1x1, 2x1 or 1x2",
       [](const LeanConv& c) { return !shares_one_operand(c.cluster); },
       [](const LeanConv& c) {
         return fmt::format("`cluster={}`: one operand is shared, by 1 or 2 blocks", fmt::join(c.cluster, "x"));
       },
       [](LeanConv& c) {
         c.cluster = {2, 1};
       }},
      {"lean.stages", "E113", Severity::kError, "a ring has 2 to 8 slots",
       [](const LeanConv& c) { return c.stages < 2 || c.stages > 8; },
       [](const LeanConv& c) { return fmt::format("`stages={}`: a ring needs 2 slots, and 8 is the most", c.stages); },
       [](LeanConv& c) { c.stages = std::clamp<int64_t>(c.stages, 2, 8); }}};
  return rules;
}

void check_conv(const Context& context, const ir::Kernel& kernel, Diagnostics& diagnostics) {
  if (const auto found = conv::find_convolution(context.program, kernel)) {
    const DType image = context.program.tensor(found->image).dtype.value_or(DType::kF32);
    const bool same = image == context.program.tensor(found->filter).dtype.value_or(DType::kF32);
    // As PyTorch's own, unless told otherwise.
    check_math(context, kernel, same ? image : DType::kF32, numerics::OwnMath::kTF32, diagnostics);
  }
  if (kernel.knobs.name_or("backend", "auto") == "cutlass") {
    check_rules(conv::cutlass_rules(), conv::cutlass_config(context.program, kernel), kernel.span, diagnostics);
    return;
  }
  const LeanConv lean{kernel.knobs.int_or("stages", 2), kernel.knobs.size_or("cluster", {1, 1})};
  check_rules(lean_conv_rules(), lean, kernel.span, diagnostics);
}

std::vector<RuleText> conv_rules() {
  std::vector<RuleText> out = texts_of(lean_conv_rules());
  for (const auto& others : {math_rules(), texts_of(conv::cutlass_rules())})
    out.insert(out.end(), others.begin(), others.end());
  return out;
}

}  // namespace

extern const Family solstice_families_conv;
const Family solstice_families_conv =
    declared_family("conv", "convolutions of one to three dimensions, forward, transposed, grouped, depthwise",
                    conv_knobs, check_conv, conv_rules);

}  // namespace solstice::families
