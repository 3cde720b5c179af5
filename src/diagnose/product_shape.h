// Extents of the products that a program's kernels compute, from its text: facts of any age have them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/diagnosis/facts.h"

namespace solstice::diagnose {

// sum[k](a[..m..k] * b[..n..k]), m and n such that the result's innermost index belongs to n, as tiles MxNxK are meant.
struct ProductShape {
  int64_t batches = 1, m = 1, n = 1, k = 1;  // k: terms of the sum
};

// By kernel, of those whose equations hold one product of two tensors. None of a program that cannot be read.
std::map<std::string, ProductShape> product_shapes(const std::string& program);

// "128x256x64" as numbers; the third is 0 where only two are written.
struct TileShape {
  int64_t m = 0, n = 0, k = 0;
};
// Zeros of a text that is no tile.
TileShape tile_of(const std::string& text);
// The knob `tile` of a kernel; zeros where it has none.
TileShape tile_of(const KernelSheet& kernel);
// Tiles that families build and that lie within that of the kernel, the largest first, as the knob has them; none of a
// kernel without tiles.
std::vector<std::string> smaller_tiles(const KernelSheet& kernel);
// A knob that is a number; 0 where it is none.
int64_t number_knob(const KernelSheet& kernel, const std::string& name);

// How a product is cut into tiles.
struct Tiling {
  TileShape tile;
  int64_t tiles = 0;
  int64_t split = 1;  // parts of the sum of a tile
};
// Nothing where the tile or the split is not known.
std::optional<Tiling> tiling_of(const KernelSheet& kernel, const ProductShape& shape);

}  // namespace solstice::diagnose
