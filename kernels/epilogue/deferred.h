// Results of a tile that are written while the next one is multiplied: values of 16 bits wait in registers, two in one,
// and go out 16 rows x 32 columns at a time.
#pragma once

#include "epilogue/staged.h"

namespace solstice {

template <class Epilogue>
inline constexpr bool kDefers = Epilogue::kTma&& Epilogue::kOutputs == 1 && sizeof(ElementOf<Epilogue, 0>) == 2;

template <class Tile, int kCount>
struct DeferredTile {
  static constexpr int kSteps = kCount / 16;

  Tile tile;
  u32 values[kCount / 2];
  int step = kSteps;  // the next to be written

  template <class Epilogue>
  SOLSTICE_DEVICE void take(const Epilogue& epilogue, const Tile& of, const float (&sums)[kCount]) {
    using T = ElementOf<Epilogue, 0>;
    tile = of;
    step = 0;
    typename Epilogue::In in[16];
    load_step(epilogue, tile, 0, in);
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      float out[16][1];
#pragma unroll
      for (int i = 0; i < 16; ++i)
        epilogue.compute(sums[16 * s + i], in[i], tile.batch, tile.own_line(i % 4), tile.n0 + tile.column(s, i / 4, i % 4), out[i]);
      if (s + 1 < kSteps) load_step(epilogue, tile, s + 1, in);
#pragma unroll
      for (int i = 0; i < 16; i += 2) values[8 * s + i / 2] = pack_pair<T>(out[i][0], out[i + 1][0]);
    }
  }

  template <class Epilogue>
  SOLSTICE_DEVICE void write_step(const Epilogue& epilogue, const TensorMap* map) {
    if (step < kSteps) write_from<0>(epilogue, map);
  }
  template <class Epilogue>
  SOLSTICE_DEVICE void write_all(const Epilogue& epilogue, const TensorMap* map) {
    while (step < kSteps) write_from<0>(epilogue, map);
  }

 private:
  // Registers have no index at run time: finds the step by halves.
  template <int kFirst, int kLast = kSteps, class Epilogue>
  SOLSTICE_DEVICE void write_from(const Epilogue& epilogue, const TensorMap* map) {
    if constexpr (kLast - kFirst == 1) {
      write<kFirst>(epilogue, map);
    } else {
      constexpr int kMiddle = (kFirst + kLast) / 2;
      if (step < kMiddle)
        write_from<kFirst, kMiddle>(epilogue, map);
      else
        write_from<kMiddle, kLast>(epilogue, map);
    }
  }
  template <int kStep, class Epilogue>
  SOLSTICE_DEVICE void write(const Epilogue& epilogue, const TensorMap* map) {
    using T = ElementOf<Epilogue, 0>;
    const u32 buffer = tile.staging + kStep % kStageBuffers * kStageBytes;
    begin_buffer<Epilogue>(tile);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int i = 0; i < 4; i += 2)
        ptx::store_shared(buffer + staged_offset<T>(tile.row(i), tile.column(0, j, 0)), values[8 * kStep + 2 * j + i / 2]);
    }
    end_buffer<0>(epilogue, tile, map, kStep, buffer);
    step = kStep + 1;
  }
};

}  // namespace solstice
