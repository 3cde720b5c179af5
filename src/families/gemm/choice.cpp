#include "families/gemm/choice.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "families/gemm/cost.h"
#include "families/gemm/grouped/grouped.h"
#include "families/gemm/stream/stream.h"
#include "families/tensor_core/stream_k.h"

namespace solstice::families::gemm {

namespace {

// A legal setting with its time by the cost model.
struct Ranked {
  Seconds time;
  Settings settings;
};

// The tiles, clusters and splits of a tensor-core product.
template <typename Add>
void each_tile(const Context& context, const Problem& problem, Settings s, const Add& add) {
  for (const Tile tile : tiles()) {
    s.tile_m = tile.m, s.tile_n = tile.n;
    if (problem.epilogue.resident) {
      s.cluster = 1;
      for (s.cluster_n = 1; s.cluster_n <= kMostRowBlocks; s.cluster_n *= 2) add(s);
      continue;
    }
    for (const int cluster : {2, 1}) {  // along N it was nowhere faster
      s.cluster = cluster;
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

// The legal settings with this math.
void add_settings(const Context& context, const Problem& problem, Math math, std::vector<Ranked>& out) {
  const auto add = [&](Settings s) {
    s.dual = is_dual(problem);
    if (is_legal(context, problem, s)) out.push_back({estimate(context, problem, s).time, s});
  };
  if (is_grouped(problem)) {
    for (const Settings& grouped : grouped_settings(math)) add(grouped);
    return;
  }
  for (const Settings& streamed : stream_settings(context, problem, math)) add(streamed);
  Settings s;
  s.math = math;
  s.prepack = context.frozen;
  s.scaled = is_scaled(math, problem);
  s.tile_k = stage_k(math);
  if (math != Math::kSimt) return each_tile(context, problem, s, add);
  add(s);
  s.tile_m = s.tile_n = kSmallTile;
  add(s);
}

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

// The cheapest of some ranked settings that agrees with the knobs that are written, be it but for their split; null:
// none does.
const Settings* agreeing(const std::vector<Ranked>& ranked, const ir::Knobs& knobs) {
  const auto written = numerics::math_from_name(knobs.name_or("math", "auto"));
  for (const bool and_split : {true, false}) {
    for (const auto& [time, s] : ranked) {
      if ((!written || s.math == *written) && agrees(s, knobs, and_split)) return &s;
    }
  }
  return nullptr;
}

// The knobs that are written over settings.
Settings completed(const Context& context, const Problem& problem, const ir::Knobs& knobs, Settings out) {
  const auto tile = knobs.size_or("tile", {});
  const auto cluster = knobs.size_or("cluster", {});
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

// All legal settings among these maths, cheapest first.
std::vector<Ranked> ranked_settings(const Context& context, const Problem& problem, const std::vector<Math>& maths) {
  std::vector<Ranked> found;
  for (const Math math : maths) {
    if (is_built(math)) add_settings(context, problem, math, found);
  }
  std::stable_sort(found.begin(), found.end(), [](const Ranked& x, const Ranked& y) { return x.time < y.time; });
  return found;
}

// The cheapest legal setting among these maths; simt if none fits.
Settings best_of(const std::vector<Ranked>& ranked, const std::vector<Math>& maths) {
  if (!ranked.empty()) return ranked.front().settings;
  Settings simt;
  if (!maths.empty()) simt.math = maths.front();  // illegal here; gemm_rules() say why
  return simt;
}

Math fastest(const Context& context, const Problem& problem, const std::vector<Math>& maths) {
  return best_of(ranked_settings(context, problem, maths), maths).math;
}

}  // namespace

Settings settings_of(const Context& context, const ir::Kernel& kernel, const Problem& problem) {
  const auto written = numerics::math_from_name(kernel.knobs.name_or("math", "auto"));
  const std::vector<Math> maths = written ? std::vector<Math>{*written} : allowed_maths(context, problem);
  // The family chooses the rest.
  const std::vector<Ranked> ranked = ranked_settings(context, problem, maths);
  const Settings* const found = agreeing(ranked, kernel.knobs);
  return completed(context, problem, kernel.knobs, found ? *found : best_of(ranked, maths));
}

ir::Knobs knobs_of(const Settings& s) {
  ir::Knobs out;
  out.set("math", ir::KnobValue::of_name(std::string(numerics::info(s.math).name)));
  if (s.math != Math::kSimt) out.set("tile", ir::KnobValue::of_size({s.tile_m, s.tile_n, s.tile_k}));
  if (s.math == Math::kSimt && s.stream == Streamed::kNone)
    out.set("tile", ir::KnobValue::of_size({s.tile_m, s.tile_n}));
  if (s.math != Math::kSimt && s.stream == Streamed::kNone)
    out.set("cluster", ir::KnobValue::of_size({s.cluster, s.cluster_n}));
  if (s.math == Math::kSimt || s.stream != Streamed::kNone)
    out.set("stream", ir::KnobValue::of_name(std::string(name_of(s.stream))));
  if (s.math != Math::kSimt || s.stream != Streamed::kNone) out.set("split", ir::KnobValue::of_int(s.split));
  return out;
}

std::vector<Proposed> proposed_settings(const Context& context, const Problem& problem) {
  // A few tiles of each form: a math may fail where another does not (range, subnormal results).
  constexpr int kMostOfOneForm = 4;
  std::map<std::tuple<Math, Streamed, bool>, int> taken;
  std::vector<Proposed> out;
  const std::vector<Ranked> ranked = ranked_settings(context, problem, allowed_maths(context, problem));
  for (const auto& [time, s] : ranked) {
    if (taken[{s.math, s.stream, s.stream == Streamed::kNone && s.split > 1}]++ >= kMostOfOneForm) continue;
    ir::Knobs knobs = knobs_of(s);
    const Settings written = completed(context, problem, knobs, *agreeing(ranked, knobs));
    const Seconds written_time = estimate(context, problem, written).time;
    out.push_back({std::move(knobs), written_time});
  }
  return out;
}

GemmConfig config_of(const Context& context, const ir::Kernel& kernel, const Problem& problem) {
  GemmConfig out = unwritten_config(context, problem, settings_of(context, kernel, problem));
  out.fastest = fastest;
  set_written(kernel.knobs, out);
  return out;
}

}  // namespace solstice::families::gemm
