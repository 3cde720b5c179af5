// A scan kernel's equations as a nest whose prefixes are set apart, and how threads walk it.
#pragma once

#include <vector>

#include "base/integer.h"
#include "base/result.h"
#include "families/elementwise/nest.h"
#include "families/scan/prefix.h"

namespace solstice::families::scan {

inline constexpr int kWarp = 32;  // threads

enum class Sharing { kAuto, kBlock, kGrid };

struct Knobs {
  int threads = 0, vector = 0, items = 0;  // 0: chosen here
  Sharing sharing = Sharing::kAuto;
  int stages = -1;  // -1: chosen here
};

// A tile is what a group of threads takes at once of a row: `unroll` vectors a thread.
struct Shape {
  elementwise::Nest nest;        // right sides hold the prefixes' elements in place of the prefixes
  std::vector<Prefix> prefixes;  // distinct ones
  int along = -1;                // index of the nest
  int64_t extent = 1;            // its, the length of a row
  bool reverse = false;
  bool by_columns = false;  // neighbouring elements belong to different rows: a thread takes `vector` rows

  int threads = 256;  // of a block
  int group = 1;      // of them that share a row
  int unroll = 1;
  int stages = 0;  // tiles of a block in shared memory, the next ones on their way; 0: a tile is loaded into registers
  int blocks_an_sm = 1;  // at least, which bounds registers
  int64_t grid = 0;      // blocks that share the rows, tile by tile, all of them resident; 0: a row is one block's
  int64_t teams = 1;     // of them, each for the columns of one block

  int64_t rows() const { return nest.points / extent; }
  int lanes() const { return by_columns ? 1 : group < kWarp ? group : kWarp; }  // neighbours that share a row
  int warps() const { return group / lanes(); }                                 // of these lanes
  int rows_per_block() const { return threads / group; }                        // by columns: vectors of rows
  int64_t row_sets() const { return by_columns ? rows() / nest.vector : rows(); }
  // By columns: steps. A shifted row may begin with a single element of its first vector.
  int64_t row_vectors() const {
    return by_columns ? extent : ceil_div(nest.shifted ? extent + nest.vector - 1 : extent, nest.vector);
  }
  int64_t tile() const { return int64_t{group} * unroll; }  // vectors of a row
  int64_t tiles() const { return ceil_div(row_vectors(), tile()); }
  int64_t rounds() const { return ceil_div((by_columns ? teams : rows()) * tiles(), grid); }  // of the grid
  int64_t blocks() const { return grid > 0 ? grid : ceil_div(row_sets(), rows_per_block()); }
};

// The shape without its thread layout. Errors: those of codegen::flatten and prefix_of; not_yet for prefixes in both
// directions, or along different indices.
Result<Shape> shape_of(const ir::Program& program, const ir::Kernel& kernel);

}  // namespace solstice::families::scan
