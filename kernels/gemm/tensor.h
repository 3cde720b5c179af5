// The tensor-core GEMM of sm_90a: persistent, warp-specialised, TMA in, wgmma, generated epilogue out.
//
// D[b,m,n] = epilogue(sum_k A[b,m,k] * B[b,n,k]). A CTA owns a tile of 64*kGroups rows x kN*kHalves columns. One
// producer warpgroup fills two rings (A: all rows of a stage, B: kN columns of a stage); kGroups consumer warpgroups
// multiply (mainloop/wgmma.h). Each CTA of a cluster loads a part of the operand that they share, for all.
//
// If elements need their row's results (epilogue/row_resident.h), the CTAs of a cluster lie along n and have whole
// rows. Where workers share the k of tiles (scheduler/stream_k.h), a tile's sums meet in pipeline/stream_k_fixup.h.
#pragma once

#include "gemm/tensor_tiles.h"
#include "gemm/tile_epilogue.h"
#include "kernel/warp_specialized.h"

namespace solstice::gemm {

template <class Config, class Epilogue>
struct Tensor {
  using Output = TileEpilogue<Config, Epilogue>;
  using Registers = typename Config::Registers;
  static constexpr int kConsumers = Config::kGroups, kCluster = Config::kCluster;

  const TensorMap* map_a;
  const TensorMap* map_b;
  const TensorMap* map_second_b;
  const TensorMap* map_out;
  Problem p;
  const Epilogue& epilogue;
  u32 shared;
  u32 rank;  // in the cluster

  SOLSTICE_DEVICE TensorTiles<Config> tiles() const { return {p, rank}; }

  // ---- the roles (kernel/warp_specialized.h)
  SOLSTICE_DEVICE void init() const {
    Output::init(shared, rank);
    Config::init_rings(shared);
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
      auto ring = Config::ring_a(shared);
      auto scales = Config::scales_a(shared);
      const typename Config::SourceA source{ring, scales,           {map_a, p.scales_a, p.scale_stride_a},
                                            {},   tiles().stages(), rank};
      tiles().for_each(
          [&](const scheduler::BlockTile& tile) { source.load(tile.batch, tile.m0, tile.first, tile.last); });
    }
    if (warp == 1 && threadIdx.x % 32 == 0) {
      auto ring = Config::ring_b(shared);
      auto scales = Config::scales_b(shared);
      const typename Config::SourceB source{ring,
                                            scales,
                                            {map_b, p.scales_b, p.scale_stride_b},
                                            {map_second_b, p.scales_second_b, p.scale_stride_b},
                                            tiles().stages(),
                                            rank};
      tiles().for_each(
          [&](const scheduler::BlockTile& tile) { source.load(tile.batch, tile.n0, tile.first, tile.last); });
    }
  }

  SOLSTICE_DEVICE void consume(int group) const {
    constexpr int kHalves = Config::kHalves, kRegisters = Config::kRegisters;
    using Fixup = pipeline::StreamKFixup<kCluster, kConsumers, kHalves * kRegisters, smaller(kRegisters, 64)>;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;  // of all groups
    typename Config::Rings rings{Config::ring_a(shared), Config::ring_b(shared), static_cast<int>(rank)};
    auto scales_a = Config::scales_a(shared);
    auto scales_b = Config::scales_b(shared);
    const mainloop::Wgmma<Config> loop{rings, scales_a, scales_b};
    Output output(epilogue, map_out, p, shared, rank, warp, lane);
    tiles().for_each([&](const scheduler::BlockTile& tile) {
      int count = tile.last - tile.first;
      // One value for all lanes, as the compiler can see: places in the rings are then uniform.
      if constexpr (Config::Scheduler::kShares) count = __shfl_sync(~0u, count, 0);
      float sums[kHalves][kRegisters] = {};
      loop.run(sums, count, group, lane, warp * 16 + lane / 4);
      if constexpr (Config::Scheduler::kShares) {
        // Found anew: kept from before the main loop, it takes the place of an address there.
        const int worker = static_cast<int>(blockIdx.x) / kCluster;
        const Fixup fixup{p.sums, worker, static_cast<int>(rank), group};
        if (!fixup.complete(sums, tile)) return;
      }
      output.write(tile, sums);
    });
    output.end();  // part: epilogue
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
