// Work on elements that nobody asked for: tiles reach beyond the edges of a product, or over terms that a condition
// masks.
#include <fmt/format.h>

#include <algorithm>

#include "base/integer.h"
#include "diagnose/pipeline.h"

namespace solstice::diagnose {
namespace {

struct Padding {
  double padded = 0;  // share of the products that lie beyond the edges
  double masked = 0;  // share of the rest that a condition leaves out
  bool along_m = false;
  double all() const { return 1 - (1 - padded) * (1 - masked); }
};

double needed_operations(const KernelSheet& kernel) {
  for (const ResourceNeed& need : kernel.needs) {
    if (need.resource.starts_with("tensor.")) return need.amount;
  }
  return 0;
}

std::optional<Padding> padding_of(const KernelView& view) {
  const std::optional<Tiling> tiling = view.product ? tiling_of(view.kernel, *view.product) : std::nullopt;
  const double needed = needed_operations(view.kernel);
  if (!tiling || needed <= 0) return std::nullopt;
  const ProductShape& shape = *view.product;
  const auto filled = [](int64_t extent, int64_t tile) {
    return static_cast<double>(extent) / static_cast<double>(ceil_div(extent, tile) * tile);
  };
  const double m = filled(shape.m, tiling->tile.m), n = filled(shape.n, tiling->tile.n);
  const double k = filled(shape.k, std::max<int64_t>(1, tiling->tile.k));
  const double dense = 2.0 * static_cast<double>(shape.batches) * static_cast<double>(shape.m) *
                       static_cast<double>(shape.n) * static_cast<double>(shape.k);
  return Padding{1 - m * n * k, 1 - std::min(1.0, needed / dense), m < n};
}

// Shorter along the dimension that is padded most, the longest first.
std::vector<std::string> shorter_tiles(const KernelSheet& kernel, bool along_m) {
  const TileShape now = tile_of(kernel);
  std::vector<std::string> out;
  for (std::string& text : smaller_tiles(kernel)) {
    const TileShape tile = tile_of(text);
    if (along_m ? tile.n == now.n : tile.m == now.m) out.push_back(std::move(text));
  }
  return out;
}

void find_padding(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  const StepFacts* step = main_step(view);
  const std::optional<Padding> found = step ? padding_of(view) : std::nullopt;
  if (!found || found->all() < tool.threshold("share")) return;
  Finding finding = finding_on(
      tool, view,
      fmt::format("{:.0f} % of the products of `{}` lie beyond the edges of its tensors, {:.0f} % of the rest are "
                  "masked",
                  100 * found->padded, step->entry, 100 * found->masked),
      view.gain_of(*step, gain_without(found->all()), "without the products that nobody asked for"));
  finding.place.step = step->step;
  finding.evidence.push_back(evidence("products beyond the edges", 100 * found->padded, "%", "plan"));
  finding.evidence.push_back(evidence("masked products", 100 * found->masked, "%", "plan"));
  if (found->padded >= tool.threshold("share")) {
    if (auto tile =
            view.setting("tile", shorter_tiles(view.kernel, found->along_m), "a tile that fits the edges better"))
      finding.actions.push_back(std::move(*tile));
  }
  finding.actions.push_back(advice("a tile whose extents divide the result; loops that skip tiles masked as a whole"));
  out.push_back(std::move(finding));
}

}  // namespace

extern const Tool solstice_tools_padded_tiles;
const Tool solstice_tools_padded_tiles{
    .name = "padded tiles",
    .question = "Are products computed that nobody asked for?",
    .sources = {"plan"},
    .classes = {},
    .thresholds = {{"share", 0.1, "share of the products", "what tiles that fit could bring"}},
    .of_kernel = find_padding,
};

}  // namespace solstice::diagnose
