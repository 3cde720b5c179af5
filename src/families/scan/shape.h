// A scan kernel's equations as a nest whose prefixes are set apart, and how threads walk it.
#pragma once

#include <vector>

#include "base/result.h"
#include "families/map/nest.h"
#include "families/scan/prefix.h"
#include "machine/machine.h"

namespace solstice::families::scan {

inline constexpr int kWarp = 32;  // threads

struct Knobs {
  int threads = 0, vector = 0, items = 0;  // 0: chosen here
};

struct Shape {
  map::Nest nest;                // right sides hold the prefixes' elements in place of the prefixes
  std::vector<Prefix> prefixes;  // distinct ones
  int along = -1;                // index of the nest
  int64_t extent = 1;            // its, the length of a row
  bool reverse = false;
  bool by_columns = false;  // neighbouring elements belong to different rows: a thread walks `vector` rows alone

  int threads = 256;  // of a block
  int group = 1;      // of them that share a row
  int unroll = 1;     // vectors a thread holds of a tile

  int64_t rows() const { return nest.points / extent; }
  int lanes() const { return group < kWarp ? group : kWarp; }
  int warps() const { return group / lanes(); }  // that share a row
  int rows_per_block() const { return by_columns ? threads * nest.vector : threads / group; }
  int64_t row_vectors() const { return by_columns ? extent : extent / nest.vector; }
  int64_t tile() const { return int64_t{group} * unroll; }  // vectors of a row
  int64_t tiles() const { return (row_vectors() + tile() - 1) / tile(); }
  int64_t blocks() const { return (rows() + rows_per_block() - 1) / rows_per_block(); }
};

// Errors: those of codegen::flatten and prefix_of; not_yet for prefixes in both directions, or along different indices.
Result<Shape> shape_of(const ir::Program& program, const ir::Kernel& kernel, const Knobs& knobs);

}  // namespace solstice::families::scan
