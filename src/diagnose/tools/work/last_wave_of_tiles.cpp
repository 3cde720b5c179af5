// The last wave of tiles of a persistent kernel: its blocks take one tile after the other, and at the end some have
// none while the others still work.
#include <fmt/format.h>

#include <algorithm>

#include "base/integer.h"
#include "diagnose/pipeline.h"

namespace solstice::diagnose {
namespace {

struct LastWave {
  int64_t tiles = 0, blocks = 0, left = 0;  // left: tiles of the last, partial wave
  double idle = 0;                          // share of the time of all blocks
};

// Tiles of full waves are whole, those of the last one are divided into `split` parts (stream-K).
std::optional<LastWave> last_wave(const KernelView& view, const StepFacts& step) {
  const std::optional<Tiling> tiling = view.product ? tiling_of(view.kernel, *view.product) : std::nullopt;
  const int64_t blocks = step.grid[0] * step.grid[1] * step.grid[2];
  if (!tiling || tiling->tiles <= blocks || blocks < 1) return std::nullopt;
  LastWave out{tiling->tiles, blocks, tiling->tiles % blocks, 0};
  const auto rounds = static_cast<double>(ceil_div(out.left * tiling->split, blocks));
  const double time = static_cast<double>(out.tiles / blocks) + rounds / static_cast<double>(tiling->split);
  out.idle = 1 - static_cast<double>(out.tiles) / static_cast<double>(blocks) / time;
  return out;
}

void add_moves(const KernelView& view, const LastWave& found, Finding& finding) {
  const int64_t parts = found.left > 0 ? found.blocks / found.left : 0;
  std::vector<std::string> splits;
  for (int64_t split = parts; split > 1; split /= 2) splits.push_back(std::to_string(split));
  if (auto split = view.setting("split", splits, "blocks that share the tiles of the last wave"))
    finding.actions.push_back(std::move(*split));
  finding.actions.push_back(advice("a tile of another size, whose number fills the last wave"));
}

void find_last_tiles(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  const StepFacts* step = main_step(view);
  const std::optional<LastWave> found = step ? last_wave(view, *step) : std::nullopt;
  if (!found || found->idle < tool.threshold("idle")) return;
  Finding finding =
      finding_on(tool, view,
                 fmt::format("{} tiles for the {} blocks of `{}`: {} are left for a last wave, and {:.0f} % of the "
                             "time is idle",
                             found->tiles, found->blocks, step->entry, found->left, 100 * found->idle),
                 view.gain_of(*step, 1 / (1 - found->idle), "if the last wave were full"));
  finding.place.step = step->step;
  finding.evidence.push_back(evidence("tiles", static_cast<double>(found->tiles), "", "plan"));
  finding.evidence.push_back(evidence("blocks", static_cast<double>(found->blocks), "", "plan"));
  add_moves(view, *found, finding);
  out.push_back(std::move(finding));
}

}  // namespace

extern const Tool solstice_tools_last_wave_of_tiles;
const Tool solstice_tools_last_wave_of_tiles{
    .name = "last wave of tiles",
    .question = "Do blocks of a persistent kernel run out of tiles?",
    .sources = {"plan"},
    .classes = {},
    .thresholds = {{"idle", 0.1, "share of the time", "what a full last wave could bring"}},
    .of_kernel = find_last_tiles,
    .explains = {"SM imbalance", "tensor cores fed slowly"},
};

}  // namespace solstice::diagnose
