// Instructions around the products: accumulators that are promoted to fp32 registers, and the epilogue of a tile.
// Schedulers that issue them while no product is under way leave the tensor cores idle.
#include <fmt/format.h>

#include <algorithm>

#include "base/integer.h"
#include "diagnose/pipeline.h"

namespace solstice::diagnose {
namespace {

constexpr double kWarpGroup = 128;

struct Overheads {
  double products = 0;   // cycles of the tensor cores, for the parts of a tile
  double promotion = 0;  // cycles of a scheduler, for the same
  double epilogue = 0;
};

// The loop of the products: the innermost with wgmma.
const SassLoop* product_loop(const SassFacts& sass) {
  const SassLoop* best = nullptr;
  for (const SassLoop& loop : sass.loops) {
    if (count_of(loop.mix, "wgmma") > 0 && (!best || loop.depth > best->depth)) best = &loop;
  }
  return best;
}

// Warp groups that compute: all but the one that loads. Each has a warp on every scheduler.
double consumers(const StepFacts& step) { return std::max(1.0, static_cast<double>(step.block[0]) / kWarpGroup - 1); }

std::optional<Overheads> overheads_of(const KernelView& view, const StepFacts& step) {
  const std::optional<Tiling> tiling = view.product ? tiling_of(view.kernel, *view.product) : std::nullopt;
  const SassLoop* loop = step.sass ? product_loop(*step.sass) : nullptr;
  if (!tiling || !loop || tiling->tile.k < 1) return std::nullopt;
  const auto time = view.tensor_time(static_cast<double>(tiling->tile.m), static_cast<double>(tiling->tile.n),
                                     static_cast<double>(tiling->tile.k));
  if (!time) return std::nullopt;
  const double rounds = static_cast<double>(ceil_div(view.product->k, tiling->tile.k)) /
                        static_cast<double>(std::max<int64_t>(1, tiling->split));
  Overheads out;
  out.products = time->value * view.machine.max_clock.value * rounds;
  out.promotion = count_of(loop->mix, "fp32") * consumers(step) * rounds;
  if (loop->parent >= 0) {
    const SassMix& outer = step.sass->loops[static_cast<size_t>(loop->parent)].mix;
    out.epilogue = static_cast<double>(outer.instructions - loop->mix.instructions) * consumers(step);
  }
  return out;
}

void find_overheads(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  const StepFacts* step = main_step(view);
  const std::optional<Overheads> found = step ? overheads_of(view, *step) : std::nullopt;
  if (!found || found->products <= 0) return;
  const double promotion = found->promotion / found->products, epilogue = found->epilogue / found->products;
  if (promotion + epilogue < tool.threshold("share")) return;
  Finding finding =
      finding_on(tool, view,
                 fmt::format("for 100 cycles of products `{}` issues {:.0f} of promotion and {:.0f} of its epilogue",
                             step->entry, 100 * promotion, 100 * epilogue),
                 view.gain_of(*step, 1 + promotion + epilogue, "if all of them hid behind products of other warps"));
  finding.place.step = step->step;
  finding.place.part = promotion >= epilogue ? "promotion" : "epilogue";
  finding.evidence.push_back(evidence("promotion over products", promotion, "x", "sass"));
  finding.evidence.push_back(evidence("epilogue over products", epilogue, "x", "sass"));
  finding.actions.push_back(promotion >= epilogue ? advice("rarer promotion, or a math without one")
                                                  : advice("a cheaper epilogue, or a kernel of its own for it"));
  finding.confidence = Confidence::kLow;
  out.push_back(std::move(finding));
}

}  // namespace

extern const Tool solstice_tools_promotion_and_epilogue;
const Tool solstice_tools_promotion_and_epilogue{
    .name = "promotion and epilogue",
    .question = "Do instructions around the products keep tensor cores waiting?",
    .sources = {"sass", "plan"},
    .classes = {},
    .thresholds = {{"share", 0.1, "x of the products' time", "what perfect overlap could bring"}},
    .of_kernel = find_overheads,
    .explains = {"tensor cores fed slowly"},
};

}  // namespace solstice::diagnose
