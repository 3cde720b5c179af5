// The rules on grouped products.
#include <algorithm>

#include "families/gemm/config.h"
#include "families/gemm/grouped/grouped.h"

namespace solstice::families::gemm {
namespace {

GroupedLayout grouped_layout_of(const GemmConfig& c) {
  return grouped_layout(c.settings, c.product().grouping.groups, c.shared_limit());
}

}  // namespace

void add_grouped_rules(GemmRules& rules) {
  rules.push_back(
      {"lean.grouped_math", "E110", Severity::kError, "grouped products multiply operands of 16 bits as they are",
       [](const GemmConfig& c) { return is_grouped(*c.problem) && c.settings.math != grouped_math(*c.problem); },
       [](const GemmConfig& c) {
         return fmt::format("`math={}`: grouped products multiply their operands as they are", math_name(c));
       },
       [](GemmConfig& c) { set_math(c, grouped_math(*c.problem)), stop_streaming(c); }});
  rules.push_back(
      {"lean.grouped_stream", "E117", Severity::kError,
       "grouped products stream no operand, and split their last tiles by themselves",
       [](const GemmConfig& c) { return is_grouped(*c.problem) && (is_streamed(c) || c.settings.split != 1); },
       [](const GemmConfig& c) {
         return is_streamed(c) ? fmt::format("`stream={}` of a grouped product", name_of(c.settings.stream))
                               : fmt::format("`split={}` of a grouped product", c.settings.split);
       },
       stop_streaming});
  rules.push_back({"lean.grouped_tile", "E111", Severity::kError, "tiles of grouped products are 128x256 and 128x128",
                   [](const GemmConfig& c) {
                     const auto& known = grouped_tiles();
                     const auto same = [&](Tile t) { return t.m == c.settings.tile_m && t.n == c.settings.tile_n; };
                     return is_grouped(*c.problem) && std::none_of(known.begin(), known.end(), same);
                   },
                   [](const GemmConfig& c) {
                     return fmt::format("no grouped kernel for `tile={}x{}`; legal: 128x256, 128x128",
                                        c.settings.tile_m, c.settings.tile_n);
                   },
                   [](GemmConfig& c) {
                     c.settings.tile_m = 128;
                     c.settings.tile_n = c.settings.tile_n < 192 ? 128 : 256;
                   }});
  rules.push_back(
      {"lean.grouped_shared", "E113", Severity::kError,
       "the ring of a grouped product has 2 to 8 slots, which fit a block's shared memory beside staging and groups",
       [](const GemmConfig& c) {
         const GroupedLayout layout = grouped_layout_of(c);
         return is_grouped(*c.problem) &&
                (layout.slots < 2 || layout.slots > 8 || layout.shared_bytes > c.shared_limit());
       },
       [](const GemmConfig& c) {
         const GroupedLayout layout = grouped_layout_of(c);
         return fmt::format("shared memory: {} slots take {} > {}", layout.slots, kib(layout.shared_bytes),
                            kib(c.shared_limit()));
       },
       [](GemmConfig& c) { c.settings.stages = 0; }});
}

}  // namespace solstice::families::gemm
