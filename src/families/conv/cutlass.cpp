#include "families/conv/cutlass.h"

#include <algorithm>

namespace solstice::families::conv {
namespace {

using Rules = std::vector<Rule<CutlassConv>>;

constexpr int64_t kMostBytes = int64_t{1} << 31;
constexpr int64_t kMostOffset = 128;  // what an im2col descriptor holds of pads and filter extents in three dimensions

bool is_sm90(const CutlassConv& c) { return c.generation == Generation::kSm90; }
std::string tile_text(const CutlassConv& c) { return fmt::format("tile={}x{}x{}", c.tile_m, c.tile_n, c.tile_k); }
void fall_back(CutlassConv& c) { c.generation = Generation::kSm80, c.cluster_m = c.cluster_n = 1; }

Rules make_rules() {
  Rules out;
  out.push_back({"conv.groups", "E114", Severity::kError, "for sm_90a there are no groups; the 2.x kernels have them",
                 [](const CutlassConv& c) { return is_sm90(c) && c.groups > 1; },
                 [](const CutlassConv& c) { return fmt::format("{} groups with `schedule=sm90`", c.groups); }, fall_back});
  out.push_back({"conv.data_gradient_stride", "E114", Severity::kError,
                 "a data gradient (a transposed convolution) for sm_90a has stride 1",
                 [](const CutlassConv& c) { return is_sm90(c) && c.direction == Direction::kDataGradient && c.stride > 1; },
                 [](const CutlassConv& c) { return fmt::format("a transposed convolution of stride {} with `schedule=sm90`", c.stride); },
                 fall_back});
  out.push_back(
      {"conv.strided_dilated_gradient", "E114", Severity::kError, "a strided data gradient of the 2.x kernels has no dilation",
       [](const CutlassConv& c) { return !is_sm90(c) && c.direction == Direction::kDataGradient && c.stride > 1 && c.dilation > 1; },
       [](const CutlassConv& c) { return fmt::format("a transposed convolution of stride {} and dilation {}", c.stride, c.dilation); },
       nullptr});
  out.push_back({"conv.gradient_types", "E118", Severity::kError, "gradients for sm_90a are of 16-bit operands",
                 [](const CutlassConv& c) { return is_sm90(c) && c.direction != Direction::kForward && size_of(c.dtype) != 2; },
                 [](const CutlassConv& c) { return fmt::format("a gradient of {} with `schedule=sm90`", name_of(c.dtype)); }, fall_back});
  out.push_back(
      {"conv.alignment", "E114", Severity::kError, "input channels and filters are multiples of 16 bytes (innermost in memory)",
       [](const CutlassConv& c) { return c.channels * size_of(c.dtype) % 16 != 0 || c.filters * size_of(c.dtype) % 16 != 0; },
       [](const CutlassConv& c) { return fmt::format("{} channels and {} filters of {}", c.channels, c.filters, name_of(c.dtype)); },
       nullptr});
  out.push_back(
      {"conv.offsets", "E114", Severity::kError, "pads and extents of the filter are below 128: the copy engine's descriptor holds no more",
       [](const CutlassConv& c) { return is_sm90(c) && (c.pad >= kMostOffset || c.extent * c.dilation >= kMostOffset); },
       [](const CutlassConv& c) { return fmt::format("pad {}, filter extent {}, dilation {}", c.pad, c.extent, c.dilation); }, fall_back});
  out.push_back({"conv.bytes", "E114", Severity::kError, "the 2.x kernels address tensors below 2^31 bytes",
                 [](const CutlassConv& c) { return !is_sm90(c) && c.largest_bytes >= kMostBytes; },
                 [](const CutlassConv& c) { return fmt::format("a tensor of {} bytes with `schedule=sm80`", c.largest_bytes); }, nullptr});
  out.push_back({"conv.tile_rows", "E111", Severity::kError,
                 "the rows of a tile are 64, 128 or 256, its columns a multiple of 16 up to 256, its k a multiple of 16",
                 [](const CutlassConv& c) {
                   return (c.tile_m != 64 && c.tile_m != 128 && c.tile_m != 256) || c.tile_n % 16 != 0 || c.tile_n < 16 || c.tile_n > 256 ||
                          c.tile_k % 16 != 0 || c.tile_k < 16 || c.tile_k > 256;
                 },
                 [](const CutlassConv& c) { return fmt::format("no kernel for `{}`", tile_text(c)); },
                 [](CutlassConv& c) {
                   c.tile_m = c.tile_m < 96 ? 64 : c.tile_m < 192 ? 128 : 256;
                   c.tile_n = std::clamp((c.tile_n + 8) / 16 * 16, 16, 256);
                   c.tile_k = std::clamp((c.tile_k + 8) / 16 * 16, 16, 256);
                 }});
  out.push_back({"conv.registers", "E111", Severity::kError,
                 "one warpgroup holds the whole tile: fewer than 256 sums a thread, or wgmma is serialised and sums are spilled",
                 [](const CutlassConv& c) { return c.accumulators() > 255; },
                 [](const CutlassConv& c) { return fmt::format("`{}`: {} sums a thread", tile_text(c), c.accumulators()); },
                 [](CutlassConv& c) { (c.tile_n >= c.tile_m ? c.tile_n : c.tile_m) /= 2; }});
  out.push_back({"conv.cluster", "E112", Severity::kError,
                 "a cluster has power-of-two extents and at most 8 blocks; the 2.x kernels have none",
                 [](const CutlassConv& c) {
                   const auto power = [](int v) { return v > 0 && (v & (v - 1)) == 0; };
                   return !power(c.cluster_m) || !power(c.cluster_n) || c.cluster_m * c.cluster_n > (is_sm90(c) ? 8 : 1);
                 },
                 [](const CutlassConv& c) { return fmt::format("`cluster={}x{}`", c.cluster_m, c.cluster_n); },
                 [](CutlassConv& c) { c.cluster_m = is_sm90(c) ? 2 : 1, c.cluster_n = 1; }});
  return out;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> CutlassConv::knobs() const {
  return {{"tile", fmt::format("{}x{}x{}", tile_m, tile_n, tile_k)},
          {"cluster", fmt::format("{}x{}", cluster_m, cluster_n)},
          {"schedule", is_sm90(*this) ? "sm90" : "sm80"}};
}

const std::vector<Rule<CutlassConv>>& cutlass_rules() {
  static const Rules rules = make_rules();
  return rules;
}

CutlassConv cutlass_config(const ir::Knobs& knobs) {
  CutlassConv out;
  const auto tile = knobs.size_or("tile", {128, 128, 64});
  const auto cluster = knobs.size_or("cluster", {1, 1});
  out.tile_m = static_cast<int>(tile[0]);
  if (tile.size() > 1) out.tile_n = static_cast<int>(tile[1]);
  if (tile.size() > 2) out.tile_k = static_cast<int>(tile[2]);
  out.cluster_m = static_cast<int>(cluster[0]);
  if (cluster.size() > 1) out.cluster_n = static_cast<int>(cluster[1]);
  out.generation = knobs.name_or("schedule", "sm90") == "sm80" ? Generation::kSm80 : Generation::kSm90;
  return out;
}

}  // namespace solstice::families::conv
