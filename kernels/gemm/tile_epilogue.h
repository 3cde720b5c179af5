// From the sums of a warpgroup's tile to its epilogue: scales of whole lines, and how much of an epilogue's text there
// is.
#pragma once

#include "epilogue/row_resident.h"
#include "gemm/tensor_config.h"
#include "scheduler/work_tile.h"

// part: epilogue

namespace solstice::gemm {

// Steps of 16 accumulators that an epilogue's text is written for; 0: for all of them, one after the other. With
// promotion the loop costs more than it saves (docs/gemm.md).
template <class Math, int kAccumulators, class Epilogue>
inline constexpr int kStepsAtOnce = Epilogue::kLong && !Math::kPromoted && kAccumulators > 32 ? 2 : 0;

// The same where elements need their row's results; there promoted sums gain too.
template <class Math, int kAccumulators, class Epilogue>
inline constexpr int kResidentSteps = (Epilogue::kLong || Math::kPromoted) && kAccumulators > 32 ? 2 : 0;

// Scales of whole lines, from L2: a thread has two rows, m and m + 8, and two of every eight columns, from n on.
template <int kSums, int kRegisters>
SOLSTICE_DEVICE void scale_lines(float (&sums)[kRegisters], const Problem& p, int batch, int m, int n) {
  const float* rows = reinterpret_cast<const float*>(p.scales_a) + static_cast<i64>(batch) * p.scale_stride_a + m;
  const i64 column = static_cast<i64>(batch) * p.scale_stride_b + n;
  const float above = __ldg(rows), below = __ldg(rows + 8);
#pragma unroll
  for (int i = 0; i < kRegisters; i += 4) {
    const bool second = kSums == 2 && i >= kRegisters / 2;
    const float* columns = reinterpret_cast<const float*>(second ? p.scales_second_b : p.scales_b) + column;
    const float2 both = __ldg(reinterpret_cast<const float2*>(columns + 2 * (second ? i - kRegisters / 2 : i)));
    sums[i] = sums[i] * above * both.x;
    sums[i + 1] = sums[i + 1] * above * both.y;
    sums[i + 2] = sums[i + 2] * below * both.x;
    sums[i + 3] = sums[i + 3] * below * both.y;
  }
}

template <class Config, class Epilogue>
struct TileEpilogue {
  using Math = typename Config::Math;
  static constexpr int kHalves = Config::kHalves, kRegisters = Config::kRegisters, kAll = kHalves * kRegisters;
  using Exchange = solstice::epilogue::RowExchange<Config::kShareA>;

  const Epilogue& epilogue;
  const TensorMap* map;
  const Problem& p;
  u32 staging;  // of the warp
  Exchange exchange;
  int warp, lane;

  SOLSTICE_DEVICE TileEpilogue(const Epilogue& of, const TensorMap* map_out, const Problem& problem, u32 shared,
                               u32 rank, int own_warp, int own_lane)
      : epilogue(of),
        map(map_out),
        p(problem),
        staging(shared + Config::kOffsetStaging + own_warp * kStageBuffers * kStageBytes),
        exchange(exchange_of(shared, own_warp, rank)),
        warp(own_warp),
        lane(own_lane) {}

  // Of consumer warp `warp`, in the second half of its staging buffers.
  SOLSTICE_DEVICE static Exchange exchange_of(u32 shared, int warp, u32 rank) {
    return {shared + Config::kOffsetStaging + warp * kStageBuffers * kStageBytes + solstice::epilogue::kResidentStaging,
            rank};
  }
  // One thread, for all warps.
  SOLSTICE_DEVICE static void init(u32 shared, u32 rank) {
    if constexpr (Epilogue::kRowResident && Config::kCluster > 1) {
      for (int warp = 0; warp < 4 * Config::kGroups; ++warp) exchange_of(shared, warp, rank).init();
    }
  }

  // Of the warp's 16 rows of the tile.
  SOLSTICE_DEVICE void write(const scheduler::BlockTile& of, float (&sums)[kHalves][kRegisters]) {
    const WarpTile first{of.batch, of.m0 + warp * 16, of.n0, p.m, p.n, staging, lane};
    if constexpr (Math::kLineScaled)
      scale_lines<Config::kSums>(sums[0], p, first.batch, first.m0 + first.lane / 4, first.n0 + 2 * (first.lane % 4));
    constexpr int kAtOnce = kStepsAtOnce<Math, kAll, Epilogue>;
    if constexpr (Epilogue::kRowResident) {
      static_assert(Config::kShareB == 1 && Config::kSums == 1);
      solstice::epilogue::write_row_resident<kResidentSteps<Math, kAll, Epilogue>>(epilogue, first, map, sums,
                                                                                   exchange);
    } else if constexpr (Config::kSums == 2) {
      constexpr int kCount = kHalves == 2 ? kRegisters : kRegisters / 2, kSecond = kRegisters - kCount;
      write_tile<kCount, kSecond>(epilogue, first, map, sums[0], sums[kHalves - 1]);
    } else if constexpr (kAtOnce > 0) {
      write_rolled<kAtOnce>(epilogue, first, map, sums);
    } else {
#pragma unroll
      for (int h = 0; h < kHalves; ++h) {
        WarpTile tile = first;
        tile.n0 += h * Config::kN;
        write_tile<kRegisters>(epilogue, tile, map, sums[h]);
      }
    }
  }
  // After the last tile.
  SOLSTICE_DEVICE void end() const {
    if constexpr (Epilogue::kTma) {
      if (lane == 0) copy::store_wait_all();
    }
  }
};

}  // namespace solstice::gemm
