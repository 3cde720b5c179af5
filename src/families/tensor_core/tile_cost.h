// Time that a product takes in tiles on the SMs: rounds of tiles over the clusters that are resident, each its main
// loop at a share of the pipe's ceiling and then its epilogue; where stream-K shares the last tiles, their round counts
// as far as it is full.
#pragma once

#include "families/tensor_core/epilogue.h"
#include "families/tensor_core/tile_config.h"

namespace solstice::families::tensor_core {

struct TiledProduct {
  const ir::Program& program;
  const machine::Machine& machine;
  const Product& product;
  const Epilogue& epilogue;
  const TileConfig& config;
};

double compute_time(const TiledProduct& of);  // seconds

// Share of a tile's boxes that lies inside the operands.
double existing_share(const Product& product, const TileConfig& config);

}  // namespace solstice::families::tensor_core
