#include "families/gemm/choice.h"

#include <algorithm>

#include "families/gemm/cost.h"
#include "families/gemm/grouped/grouped.h"
#include "families/gemm/stream/stream.h"
#include "families/tensor_core/stream_k.h"

namespace solstice::families::gemm {

std::vector<Settings> ranked_settings(const Context& context, const Problem& problem, const std::vector<Math>& maths) {
  std::vector<std::pair<double, Settings>> found;
  const auto add = [&](Settings s) {
    s.dual = is_dual(problem);
    if (is_legal(context, problem, s)) found.emplace_back(estimate(context, problem, s).time.value, s);
  };
  for (const Math math : maths) {
    if (!is_built(math)) continue;
    if (is_grouped(problem)) {
      for (const Settings& grouped : grouped_settings(math)) add(grouped);
      continue;
    }
    Settings s;
    s.math = math;
    s.prepack = context.frozen;
    s.scaled = is_scaled(math, problem);
    for (const Settings& streamed : stream_settings(context, problem, math)) add(streamed);
    if (math == Math::kSimt) {
      s.tile_k = stage_k(math);
      add(s);
      s.tile_m = s.tile_n = kSmallTile;
      add(s);
      continue;
    }
    s.tile_k = stage_k(math);
    for (const Tile tile : tiles()) {
      if (problem.epilogue.resident) {
        s.tile_m = tile.m, s.tile_n = tile.n, s.cluster = 1;
        for (s.cluster_n = 1; s.cluster_n <= kMostRowBlocks; s.cluster_n *= 2) add(s);
        continue;
      }
      for (const int cluster : {2, 1}) {  // along N it was nowhere faster
        s.tile_m = tile.m, s.tile_n = tile.n, s.cluster = cluster;
        s.split = 1;
        add(s);
        s.dual = is_dual(problem);
        for (const int split : stream_k_splits(context.machine, problem.product, s)) {
          s.split = split;
          add(s);
        }
      }
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<Settings> out;
  for (auto& [time, s] : found) out.push_back(s);
  return out;
}

Settings best_settings(const Context& context, const Problem& problem, const std::vector<Math>& maths) {
  const auto ranked = ranked_settings(context, problem, maths);
  if (!ranked.empty()) return ranked.front();
  Settings simt;
  if (!maths.empty()) simt.math = maths.front();  // illegal here; gemm_rules() say why
  return simt;
}

namespace {

// `cluster` is a knob of the form with planes alone.
std::string stream_knob(const ir::Knobs& knobs) {
  return knobs.name_or("stream", knobs.find("cluster") ? "none" : "auto");
}

bool agrees(const Settings& s, const ir::Knobs& knobs, bool and_split) {
  const auto tile = knobs.size_or("tile", {}), cluster = knobs.size_or("cluster", {});
  if (tile.size() >= 2 && (s.tile_m != tile[0] || s.tile_n != tile[1])) return false;
  if (!cluster.empty() && s.cluster != cluster[0]) return false;
  if (cluster.size() > 1 && s.cluster_n != cluster[1]) return false;
  const std::string stream = stream_knob(knobs);
  return (stream == "auto" || stream == name_of(s.stream)) && (!and_split || knobs.int_or("split", s.split) == s.split);
}

}  // namespace

Settings settings_of(const Context& context, const ir::Kernel& kernel, const Problem& problem) {
  const ir::Knobs& knobs = kernel.knobs;
  const auto written = numerics::math_from_name(knobs.name_or("math", "auto"));
  const std::vector<Math> maths = written ? std::vector<Math>{*written} : allowed_maths(context, problem);
  const auto tile = knobs.size_or("tile", {});
  const auto cluster = knobs.size_or("cluster", {});
  // The family chooses the rest: the cheapest setting that agrees with the knobs that are written.
  const std::vector<Settings> ranked = ranked_settings(context, problem, maths);
  const auto first = [&](bool and_split) {
    return std::find_if(ranked.begin(), ranked.end(), [&](const Settings& s) { return agrees(s, knobs, and_split); });
  };
  const auto exact = first(true), found = exact != ranked.end() ? exact : first(false);
  Settings out = found != ranked.end() ? *found : best_settings(context, problem, maths);
  const std::string stream = stream_knob(knobs);
  if (stream != "auto") {
    const Streamed wanted = stream == "rows"      ? Streamed::kRows
                            : stream == "columns" ? Streamed::kColumns
                                                  : Streamed::kNone;
    if ((wanted == Streamed::kNone) != (out.stream == Streamed::kNone)) out.split = 1;
    out.stream = wanted;
  }
  out.split = static_cast<int>(knobs.int_or("split", out.split));
  if (tile.size() >= 2) out.tile_m = static_cast<int>(tile[0]), out.tile_n = static_cast<int>(tile[1]);
  out.tile_k = stage_k(out.math);
  if (tile.size() >= 3) out.tile_k = static_cast<int>(tile[2]);
  if (!cluster.empty()) out.cluster = static_cast<int>(cluster[0]);
  if (cluster.size() > 1) out.cluster_n = static_cast<int>(cluster[1]);
  out.cluster_k = cluster.size() > 2 ? static_cast<int>(cluster[2]) : 1;
  out.stages = static_cast<int>(knobs.int_or("stages", 0));
  out.group = static_cast<int>(knobs.int_or("group", 8));
  const std::string prepack = knobs.name_or("prepack", "auto");
  out.prepack = prepack == "true" || (prepack == "auto" && context.frozen);
  out.scaled = is_scaled(out.math, problem);
  out.dual = is_dual(problem);
  return out;
}

GemmConfig config_of(const Context& context, const ir::Kernel& kernel, const Problem& problem) {
  GemmConfig out = unwritten_config(context, problem, settings_of(context, kernel, problem));
  out.fastest = [](const Context& c, const Problem& p, const std::vector<Math>& maths) {
    return best_settings(c, p, maths).math;
  };
  set_written(kernel.knobs, out);
  return out;
}

}  // namespace solstice::families::gemm
