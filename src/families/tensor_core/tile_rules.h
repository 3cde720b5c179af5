// Legality of tiles on the tensor cores, of clusters and of shared memory: one function a rule, for the configuration
// of any family with kernels of this kind. Rules on clusters and rings ask for `Tiled`, those on the product's tiles
// for `TiledKernel`.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <string>

#include "families/rule.h"
#include "families/tensor_core/epilogue.h"
#include "families/tensor_core/stream_k.h"
#include "families/tensor_core/tile_config.h"

namespace solstice::families::tensor_core {

template <class Config>
concept Tiled = requires(const Config& c, Config& changed) {
  { c.tile() } -> std::convertible_to<const TileConfig&>;
  { changed.tile() } -> std::convertible_to<TileConfig&>;
  { c.is_tiled() } -> std::same_as<bool>;                    // in tiles on the tensor cores: to others no rule applies
  { c.is_row_resident() } -> std::same_as<bool>;             // a cluster along N holds the rows: row_resident_rule()
  { c.cluster_text() } -> std::convertible_to<std::string>;  // as written
  { c.stages_text() } -> std::convertible_to<std::string>;
};

template <class Config>
concept TiledKernel = Tiled<Config> && requires(const Config& c, Config& changed) {
  { c.product() } -> std::convertible_to<const Product&>;
  { c.epilogue() } -> std::convertible_to<const Epilogue&>;
  { c.shared_limit() } -> std::same_as<int64_t>;  // bytes of a block
  changed.leave_tensor_cores();                   // to fp32, where no tile is legal
};

template <class Values>
int nearest_of(const Values& values, int wanted) {
  return *std::min_element(std::begin(values), std::end(values),
                           [&](int a, int b) { return std::abs(a - wanted) < std::abs(b - wanted); });
}

// ---- clusters and rings
inline bool shares_one_operand(const TileConfig& c) {
  return c.cluster >= 1 && c.cluster_n >= 1 && c.cluster * c.cluster_n <= 2 && c.cluster_k == 1;
}

// `text`: the rule in the family's words, which may have kernels of whole rows.
template <Tiled Config>
Rule<Config> cluster_rule(std::string_view text) {
  return {"lean.cluster",
          "E112",
          Severity::kError,
          text,
          [](const Config& c) { return c.is_tiled() && !c.is_row_resident() && !shares_one_operand(c.tile()); },
          [](const Config& c) {
            return fmt::format("`cluster={}`: a cluster shares one operand between 1 or 2 blocks", c.cluster_text());
          },
          [](Config& c) {
            TileConfig& s = c.tile();
            if (s.cluster * s.cluster_n != 2) s.cluster = 2, s.cluster_n = 1;
            s.cluster_k = 1;
          }};
}

template <Tiled Config>
Rule<Config> stages_rule() {
  return {"lean.stages",
          "E113",
          Severity::kError,
          "a ring has 2 to 8 slots",
          [](const Config& c) {
            return c.is_tiled() && c.tile().stages != 0 && (c.tile().stages < 2 || c.tile().stages > 8);
          },
          [](const Config& c) {
            return fmt::format("`stages={}`: a ring needs 2 slots, and 8 is the most", c.stages_text());
          },
          [](Config& c) { c.tile().stages = std::clamp(c.tile().stages, 2, 8); }};
}

template <TiledKernel Config>
Rule<Config> shared_memory_rule() {
  return {
      "lean.shared",
      "E113",
      Severity::kError,
      "the rings, the staging of results, scales and barriers fit the shared memory of a block",
      [](const Config& c) { return c.is_tiled() && layout_of(c.tile(), c.shared_limit()).bytes() > c.shared_limit(); },
      [](const Config& c) {
        return fmt::format("shared memory: {} > {}", layout_of(c.tile(), c.shared_limit()).text(),
                           kib(c.shared_limit()));
      },
      [](Config& c) {
        TileConfig& s = c.tile();
        while (s.stages > 2 && layout_of(s, c.shared_limit()).bytes() > c.shared_limit()) --s.stages;
        if (layout_of(s, c.shared_limit()).bytes() > c.shared_limit())
          s.tile_m = 64, s.tile_n = std::min(s.tile_n / 2, 128);
      }};
}

// ---- tiles
template <Tiled Config>
Rule<Config> tile_rule() {
  return {"lean.tile",
          "E111",
          Severity::kError,
          "tiles are 128x256, 128x128, 128x64, 64x256, 64x128 and 64x64",
          [](const Config& c) { return c.is_tiled() && !is_known_tile(c.tile()); },
          [](const Config& c) {
            return fmt::format("no kernel for `tile={}x{}`; legal: {}", c.tile().tile_m, c.tile().tile_n, tile_list());
          },
          [](Config& c) {
            TileConfig& s = c.tile();
            const auto apart = [&](Tile t) { return std::abs(t.m - s.tile_m) + std::abs(t.n - s.tile_n); };
            const Tile nearest =
                *std::min_element(tiles().begin(), tiles().end(), [&](Tile a, Tile b) { return apart(a) < apart(b); });
            s.tile_m = nearest.m, s.tile_n = nearest.n;
          }};
}

template <Tiled Config>
Rule<Config> tile_k_rule() {
  return {"lean.tile_k",
          "E111",
          Severity::kError,
          "k of a tile is that of a stage: 128 bytes of an operand's plane",
          [](const Config& c) { return c.is_tiled() && c.tile().tile_k != stage_k(c.tile().math); },
          [](const Config& c) {
            return fmt::format("`tile` with k {}: a stage of `math={}` holds {} k (128 bytes)", c.tile().tile_k,
                               numerics::info(c.tile().math).name, stage_k(c.tile().math));
          },
          [](Config& c) { c.tile().tile_k = stage_k(c.tile().math); }};
}

// Tiles of two sums that share A have half of the columns for each.
template <Tiled Config>
Rule<Config> dual_tile_rule() {
  return {
      "lean.dual_tile",
      "E111",
      Severity::kError,
      "tiles of two sums that share an operand have 128 or 256 columns, half of them of either sum",
      [](const Config& c) { return c.tile().dual && c.is_tiled() && is_known_tile(c.tile()) && c.tile().tile_n < 128; },
      [](const Config& c) {
        return fmt::format("no kernel for `tile={}x{}` and two sums that share an operand", c.tile().tile_m,
                           c.tile().tile_n);
      },
      [](Config& c) { c.tile().tile_n = 128; }};
}

// ---- stream-K
template <TiledKernel Config>
Rule<Config> split_rule() {
  return {
      "lean.split_tiles",
      "E117",
      Severity::kError,
      "at most 128 clusters share the k of a tile",
      [](const Config& c) { return c.is_tiled() && (c.tile().split < 1 || c.tile().split > kMostSharing); },
      [](const Config& c) { return fmt::format("`split={}` of tiles; legal: 1..{}", c.tile().split, kMostSharing); },
      [](Config& c) { c.tile().split = std::clamp(c.tile().split, 1, kMostSharing); }};
}

template <TiledKernel Config>
Rule<Config> unshared_rule() {
  return {"lean.split_unshared",
          "E117",
          Severity::kError,
          "tiles of a triangular result, or of a row-resident epilogue, are not split: `split=1`",
          [](const Config& c) {
            return c.is_tiled() && c.tile().split != 1 &&
                   (is_triangular(c.product(), c.epilogue()) || c.epilogue().resident);
          },
          [](const Config& c) {
            return fmt::format("`split={}` of tiles of {}", c.tile().split,
                               c.epilogue().resident ? "whole rows" : "a triangle of the result");
          },
          [](Config& c) { c.tile().split = 1; }};
}

// ---- row-resident epilogues
// The least power of two of blocks along N that has a row's columns; 0: no cluster has.
inline int row_blocks(const Product& product, const RowResident& rows, int tile_n) {
  int blocks = 1;
  while (blocks <= kMostRowBlocks && int64_t{tile_n} * blocks < product.n) blocks *= 2;
  const bool fits = blocks == 1 || static_cast<int>(rows.most_at_once()) * blocks <= kMostExchanged;
  return blocks <= kMostRowBlocks && fits ? blocks : 0;
}

template <TiledKernel Config>
Rule<Config> row_resident_rule() {
  return {"lean.whole_rows",
          "E112",
          Severity::kError,
          "row-resident epilogue: a tile, or a cluster of the fewest blocks of 2, 4 and 8 along N, holds whole "
          "rows, and the results of a pass times the blocks are at most 15",
          [](const Config& c) {
            const TileConfig& s = c.tile();
            return c.epilogue().resident && c.is_tiled() &&
                   (s.cluster != 1 || s.cluster_k != 1 ||
                    s.cluster_n != row_blocks(c.product(), *c.epilogue().resident, s.tile_n));
          },
          [](const Config& c) {
            return fmt::format("`tile={}x{}, cluster={}`: the epilogue is row-resident, and rows have {} columns",
                               c.tile().tile_m, c.tile().tile_n, c.cluster_text(), c.product().n);
          },
          [](Config& c) {
            TileConfig& s = c.tile();
            const auto blocks = [&] { return row_blocks(c.product(), *c.epilogue().resident, s.tile_n); };
            s.cluster = s.cluster_k = 1;
            while (s.tile_n < 256 && blocks() == 0) s.tile_n *= 2;
            s.cluster_n = blocks();
            if (s.cluster_n == 0) c.leave_tensor_cores();
          }};
}

}  // namespace solstice::families::tensor_core
