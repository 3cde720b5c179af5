// Family `conv`: convolutions, forward and transposed, dilated, grouped, depthwise, in one to three dimensions.
#include <fmt/ranges.h>

#include "families/conv/convolution.h"
#include "families/conv/cutlass.h"
#include "families/declared.h"
#include "families/tensor_core/tile_rules.h"
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

// Configuration of the family's own kernels (`backend=lean`); none is built yet. Knobs that are not written stand for
// two stages and a cluster of one block.
class LeanConv {
 public:
  explicit LeanConv(const ir::Knobs& knobs) {
    const std::vector<int64_t> cluster = knobs.size_or("cluster", {1, 1});
    const int64_t stages = knobs.int_or("stages", 2);
    cluster_ = fmt::format("{}", fmt::join(cluster, "x"));
    stages_ = std::to_string(stages);
    // Values that no kernel has, where the extents are not two and where stages are 0.
    tile_.cluster = cluster.size() == 2 ? static_cast<int>(cluster[0]) : 0;
    tile_.cluster_n = cluster.size() == 2 ? static_cast<int>(cluster[1]) : 0;
    tile_.stages = stages == 0 ? 1 : static_cast<int>(stages);
  }

  std::vector<std::pair<std::string, std::string>> knobs() const {
    return {{"stages", std::to_string(tile_.stages)},
            {"cluster", fmt::format("{}x{}", tile_.cluster, tile_.cluster_n)}};
  }

  // For tensor_core/tile_rules.h.
  const tensor_core::TileConfig& tile() const { return tile_; }
  tensor_core::TileConfig& tile() { return tile_; }
  bool is_tiled() const { return true; }
  bool is_row_resident() const { return false; }
  const std::string& cluster_text() const { return cluster_; }
  const std::string& stages_text() const { return stages_; }

 private:
  tensor_core::TileConfig tile_;
  std::string cluster_, stages_;  // as written
};

const std::vector<Rule<LeanConv>>& lean_conv_rules() {
  static const std::vector<Rule<LeanConv>> rules = {
      tensor_core::cluster_rule<LeanConv>("a cluster shares one operand between 1 or 2 blocks: 1x1, 2x1 or 1x2"),
      tensor_core::stages_rule<LeanConv>()};
  return rules;
}

void check_conv(const Context& context, const ir::Kernel& kernel, Diagnostics& diagnostics) {
  if (const auto found = conv::find_convolution(context.program, kernel)) {
    const DType image = context.program.tensor(found->image).dtype.value_or(DType::kF32);
    const bool same = image == context.program.tensor(found->filter).dtype.value_or(DType::kF32);
    // Convolutions default to the math of PyTorch's own, TF32.
    check_math(context, kernel, same ? image : DType::kF32, numerics::OwnMath::kTF32, diagnostics);
  }
  if (kernel.knobs.name_or("backend", "auto") == "cutlass") {
    check_rules(conv::cutlass_rules(), conv::cutlass_config(context.program, kernel), kernel.span, diagnostics);
    return;
  }
  check_rules(lean_conv_rules(), LeanConv(kernel.knobs), kernel.span, diagnostics);
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
