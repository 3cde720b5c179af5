// Writing a tile of elements that have two accumulators each (staged.h says how tiles are written).
#pragma once

#include "epilogue/staged.h"

namespace solstice {

// kCount elements of a thread in wgmma's layout: first[i] and second[kFrom + i] are the accumulators of one.
template <int kCount, int kFrom, class Epilogue, class Tile, int kRegisters>
SOLSTICE_DEVICE void write_pairs(const Epilogue& epilogue, const Tile& tile, const TensorMap* map, const float (&first)[kRegisters],
                                 const float (&second)[kRegisters]) {
  constexpr int kSteps = kCount / 16;
  typename Epilogue::In in[16];
  load_step(epilogue, tile, 0, in);
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    float values[16][Epilogue::kValues];
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const int at = 16 * step + i;
      epilogue.compute(first[at], second[kFrom + at], in[i], tile.batch, tile.own_line(i % 4), tile.n0 + tile.column(step, i / 4, i % 4),
                       values[i]);
    }
    if (step + 1 < kSteps) load_step(epilogue, tile, step + 1, in);
    write_outputs<0>(epilogue, tile, map, step, values);
  }
}

}  // namespace solstice
