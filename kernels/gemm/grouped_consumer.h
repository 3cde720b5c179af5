// The consumer warpgroups of grouped products (grouped.h): they multiply the tiles that they are told of, 64 rows each,
// and write them.
#pragma once

#include "epilogue/deferred.h"
#include "gemm/grouped_block.h"
#include "pipeline/stream_k_fixup.h"

namespace solstice::gemm {

// 16 rows of a group: rows of the result as the table lists them.
struct GroupedRows : WarpLayout {
  static constexpr bool kIsBox = false;
  int batch, m0, n0;  // of the order by groups
  int m, n;           // the group's end; columns
  bool box;
  int lines[2];

  SOLSTICE_DEVICE int own_line(int i) const { return lines[i / 2]; }
  SOLSTICE_DEVICE int last_line() const { return 0x7fffffff; }
  SOLSTICE_DEVICE int line(int r) const {
    const int low = __shfl_sync(~0u, lines[0], r % 8 * 4), high = __shfl_sync(~0u, lines[1], r % 8 * 4);
    return r < 8 ? low : high;
  }
  SOLSTICE_DEVICE bool has_line(int r) const { return m0 + r < m; }
  SOLSTICE_DEVICE bool is_box() const { return box; }
  SOLSTICE_DEVICE void store_box(const TensorMap* map, int column, u32 buffer) const {
    copy::store_box(map, column, m0, batch, buffer);
  }
};
static_assert(RowTile<GroupedRows>);

template <class Config>
struct GroupedConsumer : GroupedBlock<Config> {
  using Base = GroupedBlock<Config>;
  using Base::kRows, Base::kN, Base::kCluster, Base::kRegisters, Base::p, Base::rank, Base::told, Base::shared,
      Base::scattered, Base::slots, Base::gathers_a, Base::gathers_b;
  using Rings = typename Config::Rings;

  // Zeros in the rows of k behind the `count` of the group. Both warpgroups write those of B.
  SOLSTICE_DEVICE static void clear_end(u32 a, u32 b, int count, int group) {
    const u32 piece = threadIdx.x % 8 * 16;
#pragma unroll 1
    for (int row = count + static_cast<int>(threadIdx.x) % 128 / 8; row < Config::kStageK; row += 16) {
      ptx::store_shared_zero(a + row * mma::kRowBytes + piece);
#pragma unroll
      for (int g = 0; g < kN / 64; ++g) ptx::store_shared_zero(b + g * mma::kGroupBytes + row * mma::kRowBytes + piece);
    }
    ptx::fence_async_proxy();
    ptx::sync_some<128>(1 + group);
  }

  // `meanwhile` is called once a stage, while the tensor cores are at work.
  template <class F>
  SOLSTICE_DEVICE void multiply(float (&sums)[kRegisters], Rings& rings, const scheduler::GroupTile& t, int group,
                                int lane, const F& meanwhile) const {
    const auto prepare = [&](u32 a, u32 b, int left) {
      if (gathers_a() || gathers_b()) ptx::fence_async_proxy();
      if (!kRows && left < Config::kStageK) clear_end(a, b, left, group);
    };
    mainloop::accumulate<typename Config::Product, typename Config::Traits::Start, Config::kStageK>(
        sums, rings, t.first, t.last, group, lane, prepare, meanwhile);
  }
  // Of rows that are none of the group's, and where there is no k, nothing is multiplied.
  SOLSTICE_DEVICE static void pass_over(Rings& rings, const scheduler::GroupTile& t, int lane) {
    int k = t.first;
#pragma unroll 1
    do {
      rings.wait_full();
      rings.release(rings.slots(), lane);
      rings.advance();
      k += Config::kStageK;
    } while (k < t.last);
    ptx::sync_warp();  // as behind the main loop
  }

  SOLSTICE_DEVICE static void clear(float (&sums)[kRegisters]) {
#pragma unroll
    for (int i = 0; i < kRegisters; ++i) sums[i] = 0;
  }

  SOLSTICE_DEVICE auto rows_of(const scheduler::GroupTile& t, int m0, u32 staging, int lane) const {
    if constexpr (kRows) {
      const bool plain_rows = !(scattered & 1);
      GroupedRows out{{staging, lane}, 0, m0, t.n0, t.m, p.n, plain_rows && m0 + kStageRows <= t.m, {}};
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int position = smaller(m0 + out.row(2 * i), t.m - 1);
        out.lines[i] = plain_rows ? position : p.table.list(0)[position];
      }
      return out;
    } else {
      return WarpTile{t.group, m0, t.n0, t.m, p.n, staging, lane};
    }
  }

  SOLSTICE_DEVICE bool has_part(const scheduler::GroupTile& t, int group) const {
    return t.m0 + group * 64 < t.m && t.n0 < p.n;
  }

  template <class Epilogue>
  SOLSTICE_DEVICE void consume(const Epilogue& epilogue, const TensorMap* map_out, int group) const {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    const u32 staging = shared + Config::kOffsetStaging + (group * 4 + warp) * kStageBuffers * kStageBytes;
    const int cluster = blockIdx.x / kCluster;
    Rings rings{slots()};
    DeferredTile<decltype(rows_of(scheduler::GroupTile(), 0, 0, 0)), kRegisters> results;
    const auto finish = [&](const scheduler::GroupTile& t, const float(&sums)[kRegisters]) {
      const int m0 = t.m0 + group * 64 + warp * 16;
      if (m0 >= t.m) return;
      if constexpr (kDefers<Epilogue>)
        results.take(epilogue, rows_of(t, m0, staging, lane), map_out, sums);
      else
        write_tile<kRegisters>(epilogue, rows_of(t, m0, staging, lane), map_out, sums);
    };
    const ToldTiles<Config::kTold, Rings> tiles{told, rings};
    tiles.for_each([&](const scheduler::GroupTile& t) {
      const bool more = t.group >= 0, any = more && has_part(t, group), multiplies = any && (kRows || t.first < t.last);
      float sums[kRegisters];
      if (multiplies) {
        multiply(sums, rings, t, group, lane, [&] {
          if constexpr (kDefers<Epilogue>) results.write_next(epilogue, map_out);
        });
      } else {
        pass_over(rings, t, lane);
        if constexpr (!kRows) clear(sums);
      }
      if constexpr (kDefers<Epilogue>) results.write_rest(epilogue, map_out);
      if (!any) return;
      if constexpr (kRows) {
        // Of the last tiles, whose k clusters share. The sort, which runs before, clears the signals.
        const pipeline::StreamKFixup<kCluster, 2, kRegisters, 32, pipeline::ClearedByPreviousKernel> fixup{
            {p.partials, p.table.signal(0)}, cluster, static_cast<int>(rank), group};
        if (!fixup.complete(sums, t)) return;
      }
      finish(t, sums);
    });
    if constexpr (Epilogue::kTma) {
      if (lane == 0) copy::store_wait_all();
    }
  }
};

}  // namespace solstice::gemm
