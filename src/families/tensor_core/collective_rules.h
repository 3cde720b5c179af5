// Rules that CUTLASS's products and convolutions for sm_90a have in common, for any configuration with the fields they
// name.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/integer.h"
#include "families/rule.h"

namespace solstice::families::tensor_core {

inline constexpr int64_t kSharedBytes = 232448;  // of a block: sm90_smem_capacity_bytes

template <class Config>
std::string tile_text(const Config& c) {
  return fmt::format("tile={}x{}x{}", c.tile_m, c.tile_n, c.tile_k);
}

template <class Config>
std::string cluster_value(const Config& c) {
  return c.cluster_k == 1 ? fmt::format("{}x{}", c.cluster_m, c.cluster_n)
                          : fmt::format("{}x{}x{}", c.cluster_m, c.cluster_n, c.cluster_k);
}

template <class Config>
std::string cluster_text(const Config& c) {
  return "cluster=" + cluster_value(c);
}

// The closed form of StageCountAutoCarveout.
template <class Config>
int fitting_stages(const Config& c) {
  return static_cast<int>((kSharedBytes - round_up(c.epilogue_bytes(), 128)) / std::max<int64_t>(c.stage_bytes(), 1));
}

inline bool is_power_of_two(int v) { return v > 0 && (v & (v - 1)) == 0; }

template <class Config>
std::vector<Rule<Config>> cluster_rules() {
  return {
      error_rule<Config>(
          "cluster.depth", "E112", "a cluster has one block along k: more blocks compile and give wrong results",
          [](const Config& c) { return c.cluster_k != 1; },
          [](const Config& c) { return fmt::format("`{}`: clusters along k", cluster_text(c)); }),
      error_rule<Config>(
          "cluster.power", "E112", "the extents of a cluster are powers of two",
          [](const Config& c) { return !is_power_of_two(c.cluster_m) || !is_power_of_two(c.cluster_n); },
          [](const Config& c) { return fmt::format("`{}`: extents are powers of two", cluster_text(c)); }),
      error_rule<Config>(
          "cluster.size", "E112", "a cluster has at most 8 blocks (16 are not portable)",
          [](const Config& c) { return c.cluster_m * c.cluster_n > 8; },
          [](const Config& c) { return fmt::format("`{}`: {} blocks", cluster_text(c), c.cluster_m * c.cluster_n); })};
}

template <class Config>
int used_stages(const Config& c) {
  return c.stages ? c.stages : fitting_stages(c);
}

template <class Config>
std::vector<Rule<Config>> stage_rules() {
  return {error_rule<Config>(
              "stages.two", "E113", "two stages at least, which fit into the 227 KiB of a block",
              [](const Config& c) { return fitting_stages(c) < 2 || (c.stages != 0 && c.stages < 2); },
              [](const Config& c) {
                return fmt::format("`{}, stages={}`: {} B a stage beside {} B of epilogue", tile_text(c),
                                   c.stages ? std::to_string(c.stages) : "auto", c.stage_bytes(), c.epilogue_bytes());
              }),
          error_rule<Config>(
              "stages.fit", "E113", "explicit stages that do not fit compile, and the launch fails",
              [](const Config& c) { return c.stages > fitting_stages(c); },
              [](const Config& c) {
                return fmt::format("`stages={}`: {} x {} B and {} B of epilogue are more than {} B", c.stages, c.stages,
                                   c.stage_bytes(), c.epilogue_bytes(), kSharedBytes);
              }),
          warning_rule<Config>(
              "stages.few", "W113", "fewer than three stages do not hide the memory's latency",
              [](const Config& c) { return used_stages(c) < 3; },
              [](const Config& c) { return fmt::format("{} stages", used_stages(c)); })};
}

}  // namespace solstice::families::tensor_core
