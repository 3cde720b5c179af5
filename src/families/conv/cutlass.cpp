#include "families/conv/cutlass.h"

#include <algorithm>
#include <array>

#include "base/integer.h"
#include "families/conv/convolution.h"
#include "families/tensor_core/collective_rules.h"

namespace solstice::families::conv {

using namespace tensor_core;
namespace {

using Rules = std::vector<Rule<CutlassConv>>;

constexpr int64_t kMostBytes = int64_t{1} << 31;
constexpr std::array<int64_t, 3> kMostOffset = {65536, 256, 16};  // of an im2col descriptor, by rank

bool is_sm90(const CutlassConv& c) { return c.generation == Generation::kSm90; }
bool is_gradient(const CutlassConv& c) { return c.direction != Direction::kForward; }
std::string_view schedule_text(const CutlassConv& c) { return is_sm90(c) ? "schedule=sm90" : "schedule=sm80"; }
int64_t most_offset(const CutlassConv& c) { return kMostOffset[static_cast<size_t>(std::clamp(c.rank, 1, 3) - 1)]; }

bool legal_type(const CutlassConv& c) {
  const bool half = c.dtype == DType::kF16 || c.dtype == DType::kBF16;
  if (half) return true;
  if (is_sm90(c) && is_gradient(c)) return false;
  return c.dtype == DType::kF32 || c.dtype == DType::kI8;
}

void add_problem_rules(Rules& out) {
  out.push_back(problem_rule<CutlassConv>(
      "conv.group_gradients", "E114", "neither sm90 nor sm80 kernels have gradients with groups",
      [](const CutlassConv& c) { return c.groups > 1 && is_gradient(c); },
      [](const CutlassConv& c) { return fmt::format("a gradient with {} groups", c.groups); }));
  out.push_back(error_rule<CutlassConv>(
      "conv.groups", "E114", "the sm_90a kernels have no groups; the 2.x kernels have them (depthwise in f16 only)",
      [](const CutlassConv& c) { return c.groups > 1 && (is_sm90(c) || (c.is_depthwise() && c.dtype != DType::kF16)); },
      [](const CutlassConv& c) {
        return fmt::format("{} groups of {} with `{}`", c.groups, name_of(c.dtype), schedule_text(c));
      }));
  out.push_back(error_rule<CutlassConv>(
      "conv.types", "E118", "operands are f16, bf16, f32 (as TF32) or i8; gradients for sm_90a are of 16-bit ones",
      [](const CutlassConv& c) { return !legal_type(c); },
      [](const CutlassConv& c) {
        return fmt::format("a {} of {} with `{}`", is_gradient(c) ? "gradient" : "convolution", name_of(c.dtype),
                           schedule_text(c));
      }));
  out.push_back(error_rule<CutlassConv>(
      "conv.data_gradient_stride", "E114", "a data gradient (a transposed convolution) for sm_90a has stride 1",
      [](const CutlassConv& c) { return is_sm90(c) && c.direction == Direction::kDataGradient && c.stride > 1; },
      [](const CutlassConv& c) {
        return fmt::format("a transposed convolution of stride {} with `schedule=sm90`", c.stride);
      }));
  out.push_back(problem_rule<CutlassConv>(
      "conv.strided_dilated_gradient", "E114",
      "a strided data gradient, which only the 2.x kernels have, has no dilation",
      [](const CutlassConv& c) { return c.direction == Direction::kDataGradient && c.stride > 1 && c.dilation > 1; },
      [](const CutlassConv& c) {
        return fmt::format("a transposed convolution of stride {} and dilation {}", c.stride, c.dilation);
      }));
  out.push_back(error_rule<CutlassConv>(
      "conv.alignment", "E114",
      "for sm_90a input channels and filters are multiples of 16 bytes (innermost in memory); the 2.x kernels take few "
      "channels as they are",
      [](const CutlassConv& c) {
        return is_sm90(c) && (c.channels * size_of(c.dtype) % 16 != 0 || c.filters * size_of(c.dtype) % 16 != 0);
      },
      [](const CutlassConv& c) {
        return fmt::format("{} channels and {} filters of {}", c.channels, c.filters, name_of(c.dtype));
      }));
  out.push_back(error_rule<CutlassConv>(
      "conv.offsets", "E114",
      "for sm_90a pads and dilated extents of the filter are below 65536, 256 or 16 (one, two or three dimensions): "
      "the copy engine's "
      "descriptor holds no more",
      [](const CutlassConv& c) {
        return is_sm90(c) && (c.pad >= most_offset(c) || (c.extent - 1) * c.dilation >= most_offset(c));
      },
      [](const CutlassConv& c) {
        return fmt::format("pad {}, filter extent {}, dilation {} in {} dimensions", c.pad, c.extent, c.dilation,
                           c.rank);
      }));
  out.push_back(error_rule<CutlassConv>(
      "conv.bytes", "E114", "the 2.x kernels address tensors below 2^31 bytes",
      [](const CutlassConv& c) { return !is_sm90(c) && c.largest_bytes >= kMostBytes; },
      [](const CutlassConv& c) { return fmt::format("a tensor of {} bytes with `schedule=sm80`", c.largest_bytes); }));
}

void add_knob_rules(Rules& out) {
  out.push_back(error_rule<CutlassConv>(
      "conv.tile", "E111",
      "the rows of a tile are 64, 128 or 256, its columns a multiple of 16 up to 256, its k one of an instruction's "
      "(16 of 16-bit, 8 of "
      "TF32, 32 of 8-bit operands) up to 256",
      [](const CutlassConv& c) {
        return (c.tile_m != 64 && c.tile_m != 128 && c.tile_m != 256) || c.tile_n % 16 != 0 || c.tile_n < 16 ||
               c.tile_n > 256 || c.tile_k % c.k_instruction() != 0 || c.tile_k < 1 || c.tile_k > 256;
      },
      [](const CutlassConv& c) { return fmt::format("no kernel for `{}` of {}", tile_text(c), name_of(c.dtype)); }));
  out.push_back(error_rule<CutlassConv>(
      "conv.registers", "E111",
      "for sm_90a one warpgroup holds the whole tile: fewer than 256 sums a thread, or wgmma is serialised and sums "
      "are spilled",
      [](const CutlassConv& c) { return is_sm90(c) && c.accumulators() > 255; },
      [](const CutlassConv& c) { return fmt::format("`{}`: {} sums a thread", tile_text(c), c.accumulators()); }));
  append(out, cluster_rules<CutlassConv>());
  out.push_back(error_rule<CutlassConv>(
      "conv.cluster", "E112", "the 2.x kernels have no clusters",
      [](const CutlassConv& c) { return !is_sm90(c) && c.cluster_m * c.cluster_n > 1; },
      [](const CutlassConv& c) { return fmt::format("`{}, {}`", cluster_text(c), schedule_text(c)); }));
  append(out, stage_rules<CutlassConv>());
}

}  // namespace

std::vector<std::pair<std::string, std::string>> CutlassConv::knobs() const {
  return {{"tile", fmt::format("{}x{}x{}", tile_m, tile_n, tile_k)},
          {"cluster", cluster_value(*this)},
          {"stages", stages ? std::to_string(stages) : "auto"},
          {"schedule", is_sm90(*this) ? "sm90" : "sm80"}};
}

// With the stage's barriers, which the 2.x kernels have none of.
int64_t CutlassConv::stage_bytes() const {
  const int64_t tiles = int64_t{tile_k} * (tile_m + tile_n) * size_of(dtype);
  return is_sm90(*this) ? round_up(tiles, 128) + 16 : tiles;
}

// The epilogue of the 2.x kernels takes the place of the stages once these are used up.
int64_t CutlassConv::epilogue_bytes() const {
  return is_sm90(*this) ? stored_through_shared(epilogue, tile_m, tile_n, false) : 0;
}

std::vector<KnobAxis<CutlassConv>> CutlassConv::axes() {
  using C = CutlassConv;
  return {
      knob_axis<&C::tile_n>({16, 32, 48, 64, 96, 128, 160, 192, 256}),
      knob_axis<&C::tile_m>({64, 128, 256}, 2),
      knob_axis<&C::tile_k>({8, 16, 32, 64, 96, 128, 192, 256}, 2),
      knob_axis<&C::cluster_m>({1, 2, 4, 8}),
      knob_axis<&C::cluster_n>({1, 2, 4, 8}),
      knob_axis<&C::cluster_k>({1}),
      knob_axis<&C::stages>({0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
      knob_axis<&C::generation>({0, 1}, 3),
  };
}

const std::vector<Rule<CutlassConv>>& cutlass_rules() {
  static const Rules rules = [] {
    Rules out;
    add_problem_rules(out);
    add_knob_rules(out);
    return out;
  }();
  return rules;
}

CutlassConv cutlass_config(const ir::Program& program, const ir::Kernel& kernel) {
  CutlassConv out;
  if (const auto found = find_convolution(program, kernel)) {
    out.direction = found->transposed ? Direction::kDataGradient : Direction::kForward;
    out.dtype = program.tensor(found->image).dtype.value_or(DType::kF32);
    out.rank = found->rank;
    out.groups = found->groups, out.channels = found->channels, out.filters = found->filters;
    out.stride = found->stride, out.dilation = found->dilation, out.pad = found->pad, out.extent = found->extent;
    for (const int id : {found->image, found->filter, found->result}) {
      const ir::Tensor& tensor = program.tensor(id);
      out.largest_bytes = std::max(out.largest_bytes, tensor.elements() * size_of(tensor.dtype.value_or(DType::kF32)));
    }
    out.epilogue = collective_epilogue(program, kernel, found->equation, found->node).value_or(out.epilogue);
  }
  out.tile_k = 4 * out.k_instruction();
  const auto tile = kernel.knobs.size_or("tile", {128, 128});
  const auto cluster = kernel.knobs.size_or("cluster", {1, 1});
  out.tile_m = static_cast<int>(tile[0]);
  if (tile.size() > 1) out.tile_n = static_cast<int>(tile[1]);
  if (tile.size() > 2) out.tile_k = static_cast<int>(tile[2]);
  out.cluster_m = static_cast<int>(cluster[0]);
  if (cluster.size() > 1) out.cluster_n = static_cast<int>(cluster[1]);
  if (cluster.size() > 2) out.cluster_k = static_cast<int>(cluster[2]);
  out.stages = static_cast<int>(kernel.knobs.int_or("stages", 0));
  out.generation = kernel.knobs.name_or("schedule", "sm90") == "sm80" ? Generation::kSm80 : Generation::kSm90;
  return out;
}

}  // namespace solstice::families::conv
