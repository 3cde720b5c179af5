// The tensor-core GEMM of sm_90a: persistent, warp-specialised, TMA in, wgmma, generated epilogue out.
//
// D[b,m,n] = epilogue(sum_k A[b,m,k] * B[b,n,k]). A CTA owns a tile of 64*kGroups rows x kN*kHalves columns. One
// producer warpgroup fills two rings (A: all rows of a stage, B: kN columns of a stage); kGroups consumer warpgroups
// multiply (mainloop/wgmma.h). Each CTA of a cluster loads a part of the operand that they share, for all.
//
// Where elements need their row's results (epilogue/row_resident.h), the CTAs of a cluster lie along n and have whole
// rows. Where workers share the k of tiles (scheduler/stream_k.h), a tile's sums meet in pipeline/stream_k_fixup.h.
#pragma once

#include "gemm/tile_epilogue.h"
#include "kernel/warp_specialized.h"

namespace solstice::gemm {

template <int kConsumers>
struct TensorRegisters : kernel::KeepRegisters {};
template <>
struct TensorRegisters<2> : kernel::SplitRegisters<40, 232> {};

template <class Config, class Epilogue>
struct Tensor {
  using Scheduler = typename Config::Scheduler;
  using Output = TileEpilogue<Config, Epilogue>;
  using Registers = TensorRegisters<Config::kGroups>;
  static constexpr int kConsumers = Config::kGroups, kCluster = Config::kCluster, kHalves = Config::kHalves,
                       kRegisters = Config::kRegisters;

  const TensorMap* map_a;
  const TensorMap* map_b;
  const TensorMap* map_second_b;
  const TensorMap* map_out;
  Problem p;
  const Epilogue& epilogue;
  u32 shared;
  u32 rank;  // in the cluster

  // ---- the parts
  SOLSTICE_DEVICE int stages() const { return ceil_div(p.k, Config::kStageK); }
  SOLSTICE_DEVICE typename Config::RingA ring_a() const { return {shared, {shared + Config::kOffsetBarriersA}}; }
  SOLSTICE_DEVICE typename Config::RingB ring_b() const {
    return {shared + Config::kOffsetB, {shared + Config::kOffsetBarriersB}};
  }
  SOLSTICE_DEVICE typename Config::ScalesA scales_a() const {
    return typename Config::ScalesA(shared + Config::kOffsetScaleA);
  }
  SOLSTICE_DEVICE typename Config::ScalesB scales_b() const {
    return typename Config::ScalesB(shared + Config::kOffsetScaleB);
  }
  SOLSTICE_DEVICE Scheduler tiles() const {
    constexpr int kRows = Config::kTileM * Config::kShareB, kColumns = Config::kTileN * Config::kShareA;
    const scheduler::RasterOrder order{ceil_div(p.m, kRows), ceil_div(p.n, kColumns), p.group};
    const int worker = blockIdx.x / kCluster;
    const u32 workers = gridDim.x / kCluster;
    if constexpr (Config::kTriangular)
      return {order, p.needed.in_tiles(kRows, kColumns), p.batches, stages(), worker, workers};
    else if constexpr (Config::kStreamK)
      return {order, p.shared, stages(), worker, workers};
    else
      return {order, p.batches, stages(), worker, workers};
  }
  // Of this CTA, in a tile of the cluster.
  SOLSTICE_DEVICE int row_of(const scheduler::WorkTile& tile) const {
    return (tile.m * Config::kShareB + (Config::kShareB > 1 ? static_cast<int>(rank) : 0)) * Config::kTileM;
  }
  SOLSTICE_DEVICE int column_of(const scheduler::WorkTile& tile) const {
    return (tile.n * Config::kShareA + (Config::kShareA > 1 ? static_cast<int>(rank) : 0)) * Config::kTileN;
  }

  // ---- the roles (kernel/warp_specialized.h)
  SOLSTICE_DEVICE void init() const {
    using pipeline::kArrivals;
    Output::init(shared, rank);
    ring_a().init(1, 4 * Config::kGroups * kArrivals<Config::kShareA, Config::kReaders>);
    ring_b().init(1, 4 * Config::kGroups * kArrivals<Config::kShareB, Config::kReaders>);
    ptx::barrier_init_fence();
  }
  SOLSTICE_DEVICE void prepare() const {}
  SOLSTICE_DEVICE void begin() const {
    ptx::wait_for_previous_kernel();
    ptx::let_next_kernel_start();  // now: what starts then may read what the kernel before this one left
  }
  SOLSTICE_DEVICE void end() const {}

  // One thread for each operand.
  SOLSTICE_DEVICE void produce() const {
    const int warp = __shfl_sync(~0u, threadIdx.x / 32 % 4, 0);
    if (warp == 0 && threadIdx.x % 32 == 0) {
      typename Config::RingA ring = ring_a();
      typename Config::ScalesA scales = scales_a();
      const typename Config::SourceA source{ring, scales, {map_a, p.scales_a, p.scale_stride_a}, {}, stages(), rank};
      tiles().for_each(
          [&](const scheduler::WorkTile& tile) { source.load(tile.batch, row_of(tile), tile.first, tile.last); });
    }
    if (warp == 1 && threadIdx.x % 32 == 0) {
      typename Config::RingB ring = ring_b();
      typename Config::ScalesB scales = scales_b();
      const typename Config::SourceB source{
          ring,     scales, {map_b, p.scales_b, p.scale_stride_b}, {map_second_b, p.scales_second_b, p.scale_stride_b},
          stages(), rank};
      tiles().for_each(
          [&](const scheduler::WorkTile& tile) { source.load(tile.batch, column_of(tile), tile.first, tile.last); });
    }
  }

  SOLSTICE_DEVICE void consume(int group) const {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;  // of all groups
    const u32 staging = shared + Config::kOffsetStaging + warp * kStageBuffers * kStageBytes;
    typename Config::Rings rings{ring_a(), ring_b(), static_cast<int>(rank)};
    typename Config::ScalesA of_a = scales_a();
    typename Config::ScalesB of_b = scales_b();
    const mainloop::Wgmma<Config> loop{rings, of_a, of_b};
    Output output{epilogue, map_out, p, Output::exchange_of(shared, warp, rank)};
    tiles().for_each([&](const scheduler::WorkTile& tile) {
      const int m0 = row_of(tile), n0 = column_of(tile);
      int count = tile.last - tile.first;
      // One value for all lanes, as the compiler can see: places in the rings are then uniform.
      if constexpr (Config::kStreamK) count = __shfl_sync(~0u, count, 0);
      float sums[kHalves][kRegisters] = {};
      loop.run(sums, count, group, lane, warp * 16 + lane / 4);
      if constexpr (Config::kStreamK) {
        if (!fix_up(sums, tile, group)) return;
      }
      output.write({tile.batch, m0 + warp * 16, n0, p.m, p.n, staging, lane}, sums);
    });
    if constexpr (Epilogue::kTma) {
      if (lane == 0) copy::store_wait_all();
    }
  }

  // Whether the tile's sums are now complete here.
  SOLSTICE_DEVICE bool fix_up(float (&sums)[kHalves][kRegisters], const scheduler::WorkTile& tile, int group) const {
    using Fixup = pipeline::StreamKFixup<pipeline::StreamKWorkspace, Config::kGroups, kHalves * kRegisters,
                                         smaller(kRegisters, 64)>;
    const int block = static_cast<int>(blockIdx.x);
    const Fixup fixup{p.sums, group};
    if (tile.partial) {
      fixup.store(sums, block);
      return false;
    }
    fixup.add(sums, tile.from, block / kCluster,
              [&](int cluster) { return cluster * kCluster + static_cast<int>(rank); });
    return true;
  }
};

// The body of a kernel launched with Config::kThreads threads, Config::kSharedBytes of dynamic shared memory
// and clusters of Config::kCluster blocks; the grid is a multiple of the cluster. `map_second_b`: of two sums.
template <class Config, class Epilogue>
SOLSTICE_DEVICE void run_tensor(const TensorMap& map_a, const TensorMap& map_b, const TensorMap& map_out,
                                const Problem& p, const Epilogue& epilogue, const TensorMap* map_second_b = nullptr) {
  const u32 rank = Config::kCluster > 1 ? ptx::cluster_rank() : 0;
  const Tensor<Config, Epilogue> parts{
      &map_a, &map_b, map_second_b, &map_out, p, epilogue, ptx::shared_address(ptx::dynamic_shared()), rank};
  kernel::run_warp_specialized(parts);
}

}  // namespace solstice::gemm
