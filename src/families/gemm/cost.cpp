#include "families/gemm/cost.h"

#include <algorithm>

#include "families/gemm/grouped.h"
#include "families/gemm/rules.h"
#include "families/gemm/stream.h"
#include "families/tensor_core/stream_k.h"

namespace solstice::families::gemm {
bool is_built(Math math) { return math != Math::kF64; }

Cost estimate(const Context& context, const Problem& problem, const Settings& s) {
  const bool simt = s.math == Math::kSimt;
  if (is_grouped(problem)) return estimate_grouped(context, problem, s);
  if (is_gemv(s)) return simt ? estimate_gemv(context, problem, s) : estimate_gemv_halves(context, problem, s);
  if (s.stream != Streamed::kNone) return estimate_stream(context, problem, s);
  return simt && s.tile_m == kSmallTile ? estimate_small(context, problem, s) : estimate_tiled(context, problem, s);
}

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
      if (problem.whole) {
        s.tile_m = tile.m, s.tile_n = tile.n, s.cluster = 1;
        for (s.cluster_n = 1; s.cluster_n <= kMostRowBlocks; s.cluster_n *= 2) add(s);
        continue;
      }
      for (const int cluster : {2, 1}) {  // along N it was nowhere faster
        s.tile_m = tile.m, s.tile_n = tile.n, s.cluster = cluster;
        s.split = 1;
        add(s);
        s.dual = is_dual(problem);
        for (const int split : shared_splits(context, problem, s)) {
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
  if (!maths.empty()) simt.math = maths.front();  // illegal here; lean_rules() say why
  return simt;
}

}  // namespace solstice::families::gemm
