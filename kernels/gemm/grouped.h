// Grouped products on the tensor cores of sm_90a: every row belongs to a group (an expert), and a group has a matrix
// of its own.
//
//   forward (Ragged::kRows):  D[m, n]    = epilogue(sum_k A[m, k] * B[group(m), n, k])
//   gradient (Ragged::kK):    D[g, m, n] = epilogue(sum over rows r of group g of A[r, m] * B[r, n])
//
// group_rows.h has found the order of the rows by group before. Rows that already lie so come by the copy engine (a
// tile begins where its group does; what lies behind its end is multiplied and left out), others line by line, by
// cp.async. In a gradient's last stage, what lies behind the group's end is replaced by zeros.
//
// Persistent and warp-specialised: one producer warpgroup, which finds the tiles, two consumer warpgroups of 64 rows.
// Results of 16 bits are written while the next tile is multiplied (deferred.h). A launch meets its code cold, and each
// block takes a few tiles: there is one copy of each loop and of the epilogue, whatever a tile needs. CTAs of a cluster
// lie along m and share B, or, always or where a group's last rows are one tile, along n and share A.
#pragma once

#include "gemm/grouped_consumer.h"
#include "gemm/grouped_producer.h"
#include "kernel/warp_specialized.h"

namespace solstice::gemm {

// Counts the tiles of all groups, behind their offsets.
template <class Config>
SOLSTICE_DEVICE void count_tiles(const GroupedProblem& p, int* offsets) {
  int* const total = offsets + p.table.groups + 1;  // 0 to begin with
#pragma unroll 1
  for (int g = threadIdx.x; g < p.table.groups; g += Config::kThreads)
    atomicAdd(total, scheduler::order_of_group<Config>(p, offsets[g + 1] - offsets[g]).count());
}

template <class Config, class Rows, class Epilogue>
struct Grouped {
  using Block = GroupedBlock<Config>;
  using Registers = typename Config::Traits::Registers;
  static constexpr int kConsumers = 2, kCluster = Config::kCluster;

  const TensorMap* map_a;
  const TensorMap* map_b;
  const TensorMap* map_out;
  const GroupedProblem& p;
  const Rows& rows;
  const Epilogue& epilogue;
  u8* memory;
  bool own = false;  // the block has found the offsets of the groups itself

  SOLSTICE_DEVICE u32 shared() const { return ptx::shared_address(memory); }
  SOLSTICE_DEVICE int* offsets() const { return reinterpret_cast<int*>(memory + Config::kOffsetGroups); }
  SOLSTICE_DEVICE int* scattered() const { return offsets() + p.table.groups + 2; }
  SOLSTICE_DEVICE Block block() const {
    scheduler::GroupTile* const told = reinterpret_cast<scheduler::GroupTile*>(memory + Config::kOffsetTold);
    const u32 rank = kCluster > 1 ? ptx::cluster_rank() : 0,
              which = ptx::load_shared_u32(ptx::shared_address(scattered()));
    return {map_a, map_b, p, shared(), offsets(), {told}, rank, which};
  }

  // ---- the roles (kernel/warp_specialized.h)
  SOLSTICE_DEVICE void init() const {
    copy::prefetch(map_a);
    copy::prefetch(map_b);
    offsets()[p.table.groups + 1] = *scattered() = 0;
    Block::init_barriers(shared());
  }
  SOLSTICE_DEVICE void prepare() {
    own = Rows::kSources == 0 && p.table.rows <= kMostOwnRows &&
          find_offsets<Config::kThreads>(rows, p.table.groups, p.table.rows, offsets());
    if (!own) {
      ptx::wait_for_previous_kernel();
#pragma unroll 1
      for (int i = threadIdx.x; i <= p.table.groups; i += Config::kThreads) offsets()[i] = p.table.offsets()[i];
      if (threadIdx.x == 0)
        *scattered() = !p.table.plain(0) | !p.table.plain(p.a.list) << 1 | !p.table.plain(p.b.list) << 2;
      __syncthreads();
    }
    ptx::let_next_kernel_start();
    if constexpr (Block::kRows) count_tiles<Config>(p, offsets());
  }
  SOLSTICE_DEVICE void begin() const {}
  SOLSTICE_DEVICE void produce() const { GroupedProducer<Config>{block()}.produce(); }
  SOLSTICE_DEVICE void consume(int group) const { GroupedConsumer<Config>{block()}.consume(epilogue, map_out, group); }
  SOLSTICE_DEVICE void end() const {
    if (own) ptx::wait_for_previous_kernel();  // what follows this launch follows the sort as well
  }
};

// The body of a kernel launched with Config::kThreads threads, Config::kSharedBytes + 4 * (groups + 3) bytes of dynamic
// shared memory and clusters of Config::kCluster blocks; the grid is a multiple of the cluster, and all of it is
// resident (blocks wait for the sums of others). Launched with programmatic dependence behind the sort, which itself
// waits for all before it.
template <class Config, class Rows, class Epilogue>
SOLSTICE_DEVICE void run_grouped(const TensorMap& map_a, const TensorMap& map_b, const TensorMap& map_out,
                                 const GroupedProblem& p, const Rows& rows, const Epilogue& epilogue) {
  Grouped<Config, Rows, Epilogue> parts{&map_a, &map_b, &map_out, p, rows, epilogue, ptx::dynamic_shared()};
  kernel::run_warp_specialized(parts);
}

}  // namespace solstice::gemm
