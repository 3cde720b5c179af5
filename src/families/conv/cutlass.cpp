#include "families/conv/cutlass.h"

#include <algorithm>
#include <array>

#include "base/integer.h"
#include "families/conv/convolution.h"

namespace solstice::families::conv {
namespace {

using Rules = std::vector<Rule<CutlassConv>>;

constexpr int64_t kSharedBytes = 232448;  // of a block
constexpr int64_t kMostBytes = int64_t{1} << 31;
constexpr std::array<int64_t, 3> kMostOffset = {65536, 256, 16};  // what an im2col descriptor holds, by rank

bool is_sm90(const CutlassConv& c) { return c.generation == Generation::kSm90; }
bool is_gradient(const CutlassConv& c) { return c.direction != Direction::kForward; }
std::string tile_text(const CutlassConv& c) { return fmt::format("tile={}x{}x{}", c.tile_m, c.tile_n, c.tile_k); }
std::string_view schedule_text(const CutlassConv& c) { return is_sm90(c) ? "schedule=sm90" : "schedule=sm80"; }
int64_t most_offset(const CutlassConv& c) { return kMostOffset[static_cast<size_t>(std::clamp(c.rank, 1, 3) - 1)]; }
bool is_power_of_two(int v) { return v > 0 && (v & (v - 1)) == 0; }

bool legal_type(const CutlassConv& c) {
  const bool half = c.dtype == DType::kF16 || c.dtype == DType::kBF16;
  if (half) return true;
  if (is_sm90(c) && is_gradient(c)) return false;
  return c.dtype == DType::kF32 || c.dtype == DType::kI8;
}

void add_problem_rules(Rules& out) {
  out.push_back(problem_rule<CutlassConv>(
      "conv.group_gradients", "E114", "gradients with groups exist in neither generation",
      [](const CutlassConv& c) { return c.groups > 1 && is_gradient(c); },
      [](const CutlassConv& c) { return fmt::format("a gradient with {} groups", c.groups); }));
  out.push_back(error_rule<CutlassConv>(
      "conv.groups", "E114", "for sm_90a there are no groups; the 2.x kernels have them (depthwise ones of f16 alone)",
      [](const CutlassConv& c) { return c.groups > 1 && (is_sm90(c) || (c.is_depthwise() && c.dtype != DType::kF16)); },
      [](const CutlassConv& c) { return fmt::format("{} groups of {} with `{}`", c.groups, name_of(c.dtype), schedule_text(c)); }));
  out.push_back(error_rule<CutlassConv>(
      "conv.types", "E118", "operands are f16, bf16, f32 (as TF32) or i8; gradients for sm_90a are of 16-bit ones",
      [](const CutlassConv& c) { return !legal_type(c); },
      [](const CutlassConv& c) {
        return fmt::format("a {} of {} with `{}`", is_gradient(c) ? "gradient" : "convolution", name_of(c.dtype), schedule_text(c));
      }));
  out.push_back(error_rule<CutlassConv>(
      "conv.data_gradient_stride", "E114", "a data gradient (a transposed convolution) for sm_90a has stride 1",
      [](const CutlassConv& c) { return is_sm90(c) && c.direction == Direction::kDataGradient && c.stride > 1; },
      [](const CutlassConv& c) { return fmt::format("a transposed convolution of stride {} with `schedule=sm90`", c.stride); }));
  out.push_back(problem_rule<CutlassConv>(
      "conv.strided_dilated_gradient", "E114", "a strided data gradient, which only the 2.x kernels have, has no dilation",
      [](const CutlassConv& c) { return c.direction == Direction::kDataGradient && c.stride > 1 && c.dilation > 1; },
      [](const CutlassConv& c) { return fmt::format("a transposed convolution of stride {} and dilation {}", c.stride, c.dilation); }));
  out.push_back(error_rule<CutlassConv>(
      "conv.alignment", "E114",
      "for sm_90a input channels and filters are multiples of 16 bytes (innermost in memory); the 2.x kernels take few channels as they are",
      [](const CutlassConv& c) {
        return is_sm90(c) && (c.channels * size_of(c.dtype) % 16 != 0 || c.filters * size_of(c.dtype) % 16 != 0);
      },
      [](const CutlassConv& c) { return fmt::format("{} channels and {} filters of {}", c.channels, c.filters, name_of(c.dtype)); }));
  out.push_back(error_rule<CutlassConv>(
      "conv.offsets", "E114",
      "for sm_90a pads and dilated extents of the filter are below 65536, 256 or 16 (one, two or three dimensions): the copy engine's "
      "descriptor holds no more",
      [](const CutlassConv& c) { return is_sm90(c) && (c.pad >= most_offset(c) || (c.extent - 1) * c.dilation >= most_offset(c)); },
      [](const CutlassConv& c) {
        return fmt::format("pad {}, filter extent {}, dilation {} in {} dimensions", c.pad, c.extent, c.dilation, c.rank);
      }));
  out.push_back(error_rule<CutlassConv>(
      "conv.bytes", "E114", "the 2.x kernels address tensors below 2^31 bytes",
      [](const CutlassConv& c) { return !is_sm90(c) && c.largest_bytes >= kMostBytes; },
      [](const CutlassConv& c) { return fmt::format("a tensor of {} bytes with `schedule=sm80`", c.largest_bytes); }));
}

void add_knob_rules(Rules& out) {
  out.push_back(error_rule<CutlassConv>(
      "conv.tile", "E111",
      "the rows of a tile are 64, 128 or 256, its columns a multiple of 16 up to 256, its k one of an instruction's (16 of 16-bit, 8 of "
      "TF32, 32 of 8-bit operands) up to 256",
      [](const CutlassConv& c) {
        return (c.tile_m != 64 && c.tile_m != 128 && c.tile_m != 256) || c.tile_n % 16 != 0 || c.tile_n < 16 || c.tile_n > 256 ||
               c.tile_k % c.k_instruction() != 0 || c.tile_k < 1 || c.tile_k > 256;
      },
      [](const CutlassConv& c) { return fmt::format("no kernel for `{}` of {}", tile_text(c), name_of(c.dtype)); }));
  out.push_back(error_rule<CutlassConv>(
      "conv.registers", "E111",
      "for sm_90a one warpgroup holds the whole tile: fewer than 256 sums a thread, or wgmma is serialised and sums are spilled",
      [](const CutlassConv& c) { return is_sm90(c) && c.accumulators() > 255; },
      [](const CutlassConv& c) { return fmt::format("`{}`: {} sums a thread", tile_text(c), c.accumulators()); }));
  out.push_back(error_rule<CutlassConv>(
      "conv.cluster", "E112", "a cluster has power-of-two extents and at most 8 blocks; the 2.x kernels have none",
      [](const CutlassConv& c) {
        return !is_power_of_two(c.cluster_m) || !is_power_of_two(c.cluster_n) || c.cluster_m * c.cluster_n > (is_sm90(c) ? 8 : 1);
      },
      [](const CutlassConv& c) { return fmt::format("`cluster={}x{}, {}`", c.cluster_m, c.cluster_n, schedule_text(c)); }));
  out.push_back(error_rule<CutlassConv>(
      "conv.stages", "E113", "two stages at least fit into the 227 KiB of a block",
      [](const CutlassConv& c) { return 2 * c.stage_bytes() > kSharedBytes; },
      [](const CutlassConv& c) { return fmt::format("`{}`: {} B a stage", tile_text(c), c.stage_bytes()); }));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> CutlassConv::knobs() const {
  return {{"tile", fmt::format("{}x{}x{}", tile_m, tile_n, tile_k)},
          {"cluster", fmt::format("{}x{}", cluster_m, cluster_n)},
          {"schedule", is_sm90(*this) ? "sm90" : "sm80"}};
}

int64_t CutlassConv::stage_bytes() const { return round_up(int64_t{tile_k} * (tile_m + tile_n) * size_of(dtype), 128) + 16; }

std::vector<KnobAxis<CutlassConv>> CutlassConv::axes() {
  using C = CutlassConv;
  return {
      {{16, 32, 48, 64, 96, 128, 160, 192, 256},
       [](const C& c) -> int64_t { return c.tile_n; },
       [](C& c, int64_t v) { c.tile_n = static_cast<int>(v); },
       1},
      {{64, 128, 256}, [](const C& c) -> int64_t { return c.tile_m; }, [](C& c, int64_t v) { c.tile_m = static_cast<int>(v); }, 2},
      {{8, 16, 32, 64, 96, 128, 192, 256},
       [](const C& c) -> int64_t { return c.tile_k; },
       [](C& c, int64_t v) { c.tile_k = static_cast<int>(v); },
       2},
      {{1, 2, 4, 8}, [](const C& c) -> int64_t { return c.cluster_m; }, [](C& c, int64_t v) { c.cluster_m = static_cast<int>(v); }, 1},
      {{1, 2, 4, 8}, [](const C& c) -> int64_t { return c.cluster_n; }, [](C& c, int64_t v) { c.cluster_n = static_cast<int>(v); }, 1},
      {{0, 1},
       [](const C& c) { return static_cast<int64_t>(c.generation); },
       [](C& c, int64_t v) { c.generation = static_cast<Generation>(v); },
       3},
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
  }
  out.tile_k = 4 * out.k_instruction();
  const auto tile = kernel.knobs.size_or("tile", {128, 128});
  const auto cluster = kernel.knobs.size_or("cluster", {1, 1});
  out.tile_m = static_cast<int>(tile[0]);
  if (tile.size() > 1) out.tile_n = static_cast<int>(tile[1]);
  if (tile.size() > 2) out.tile_k = static_cast<int>(tile[2]);
  out.cluster_m = static_cast<int>(cluster[0]);
  if (cluster.size() > 1) out.cluster_n = static_cast<int>(cluster[1]);
  out.generation = kernel.knobs.name_or("schedule", "sm90") == "sm80" ? Generation::kSm80 : Generation::kSm90;
  return out;
}

}  // namespace solstice::families::conv
