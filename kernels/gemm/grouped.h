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
// Persistent and warp-specialised: one producer warpgroup, two consumer warpgroups of 64 rows. Results of 16 bits are
// written while the next tile is multiplied (deferred.h). CTAs of a cluster lie along m and share B, or along n and
// share A.
#pragma once

#include "copy/tma.h"
#include "epilogue/deferred.h"
#include "gemm/grouped_walk.h"
#include "mma/wgmma.h"

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
};

template <class Config>
struct Grouped {
  using Type = typename Config::Type;
  using Slots = typename Config::Slots;
  static constexpr bool kRows = Config::kRagged == Ragged::kRows;
  static constexpr int kN = Config::kN, kShareA = Config::kShareA, kShareB = Config::kShareB;
  static constexpr int kRegisters = kN / 2;
  static constexpr int kProducers = 128;

  const TensorMap* map_a;
  const TensorMap* map_b;
  const GroupedProblem& p;
  u32 shared;
  const int* offsets;
  u32 rank;  // in the cluster
  bool plain_rows, plain_a, plain_b;

  SOLSTICE_DEVICE Slots slots() const { return Slots(shared, shared + Config::kOffsetBarriers); }
  SOLSTICE_DEVICE GroupWalk<Config> walk() const { return {p, offsets, static_cast<int>(rank)}; }
  // Operands whose lines do not lie one after another come line by line.
  SOLSTICE_DEVICE bool gathers_a() const { return !plain_a; }
  SOLSTICE_DEVICE bool gathers_b() const { return !kRows && !plain_b; }

  SOLSTICE_DEVICE void init_barriers() const {
    slots().init(kProducers + 1, 8 * Config::kCluster);
    ptx::barrier_init_fence();
  }

  // ---- the producer warpgroup
  // A box for this CTA, or, where kShare CTAs need the same operand, this CTA's part of it for all.
  template <int kShare>
  SOLSTICE_DEVICE static void load_shared(u32 to, const TensorMap* map, int x, int y, int z, u32 full) {
    if constexpr (kShare > 1)
      copy::load_box_multicast(to, map, x, y, z, full, (1 << kShare) - 1);
    else
      copy::load_box(to, map, x, y, z, full);
  }
  template <mma::Major kMajor, int kLines, int kShare>
  SOLSTICE_DEVICE void load_operand(u32 to, const TensorMap* map, int line, int k, int z, u32 full) const {
    constexpr int kPart = (kMajor == mma::Major::kK ? kLines : mma::kGroupRows) / kShare;
    const int first = kShare > 1 ? static_cast<int>(rank) * kPart : 0;
    if constexpr (kMajor == mma::Major::kK) {
      load_shared<kShare>(to + first * mma::kRowBytes, map, k, line + first, z, full);
    } else {
#pragma unroll
      for (int g = 0; g < kLines / 64; ++g)
        load_shared<kShare>(to + g * mma::kGroupBytes + first * mma::kRowBytes, map, line + g * 64, k + first, z, full);
    }
  }

  // All threads wait for a slot, also where one fills it: a thread that fell a round of the ring behind would take one
  // fill for another.
  SOLSTICE_DEVICE void produce() const {
    const int thread = threadIdx.x % kProducers;
    Slots ring = slots();
    auto tiles = walk();
    const bool gather_a = gathers_a(), gather_b = gathers_b();
    for (GroupTile t; tiles.next(t);) {
      Lines<kRows ? Config::kTileM : 64> lines_a;
      Lines<64> lines_b;
      // Of a gradient, a stage's lines are looked up while the one before is on its way.
      const auto find = [&](int k) {
        if (gather_a) lines_a.find(p.table, p.a, plain_a, kRows ? t.m0 : k, kRows ? t.m : t.last, thread);
        if (gather_b) lines_b.find(p.table, p.b, plain_b, k, t.last, thread);
      };
      find(t.first);
      for (int k = t.first; k < t.last; k += Config::kStageK, ring.advance()) {
        const u32 to_a = ring.address(), to_b = to_a + Config::kPlaneA;
        ring.wait_empty();
        if (thread == 0) {
          ptx::barrier_arrive_expect(ring.full(), (gather_a ? 0 : Config::kPlaneA) + (gather_b ? 0 : Config::kPlaneB));
          if (!gather_a) load_operand<Config::kMajorA, Config::kTileM, kShareA>(to_a, map_a, t.m0, k, 0, ring.full());
          if (!gather_b) load_operand<Config::kMajorB, kN, kShareB>(to_b, map_b, t.n0, k, kRows ? t.group : 0, ring.full());
          if (!gather_a && !gather_b) ptx::barrier_arrive(ring.full(), kProducers);
        }
        if (!gather_a && !gather_b) continue;
        if constexpr (kRows) {
          gather_rows(to_a, thread, p.a, lines_a, k, p.k);
        } else {
          if (gather_a) gather_k<Config::kTileM>(to_a, thread, p.a, lines_a, t.m0, p.m);
          if (gather_b) gather_k<kN>(to_b, thread, p.b, lines_b, t.n0, p.n);
        }
        copy::async_arrive(ring.full());
        if (!kRows) find(k + Config::kStageK);
      }
    }
  }

  // ---- consumers: one warpgroup each
  SOLSTICE_DEVICE static void release(const Slots& ring, int slot, int lane) {
    if constexpr (Config::kCluster > 1) {
      if (lane < Config::kCluster) ptx::barrier_arrive_remote(ring.empty(slot), lane);
    } else {
      if (lane == 0) ptx::barrier_arrive(ring.empty(slot));
    }
  }

  SOLSTICE_DEVICE static void multiply_stage(float (&sums)[kRegisters], u32 a, u32 b, bool fresh) {
    using Instruction = mma::Wgmma<Type, kN, Config::kMajorA == mma::Major::kMN, Config::kMajorB == mma::Major::kMN>;
#pragma unroll
    for (int k = 0; k < mma::kSteps; ++k)
      Instruction::run(sums, mma::descriptor<Config::kMajorA>(a, k), mma::descriptor<Config::kMajorB>(b, k), k > 0 || !fresh);
  }
  // Zeros in the rows of k behind the `count` of the group. Both warpgroups write those of B.
  SOLSTICE_DEVICE static void clear_end(u32 a, u32 b, int count, int group) {
    const int thread = threadIdx.x % 128, rows = Config::kStageK - count;
    constexpr int kGroups = 1 + kN / 64;
    for (int i = thread; i < rows * kGroups * 8; i += 128) {
      const int of = i / 8 % kGroups, row = count + i / 8 / kGroups;
      ptx::store_shared_zero((of == 0 ? a : b + (of - 1) * mma::kGroupBytes) + row * mma::kRowBytes + i % 8 * 16);
    }
    ptx::fence_async_proxy();
    ptx::sync_some<128>(1 + group);
  }

  // `meanwhile` is called once a stage, while the tensor cores are at work.
  template <class F>
  SOLSTICE_DEVICE void accumulate(float (&sums)[kRegisters], Slots& ring, const GroupTile& t, int group, int lane, F&& meanwhile) const {
    int used = -1;
    for (int k = t.first; k < t.last; k += Config::kStageK, ring.advance()) {
      ring.wait_full();
      const u32 a = ring.address() + group * 64 * mma::kRowBytes, b = ring.address() + Config::kPlaneA;
      if (gathers_a() || gathers_b()) ptx::fence_async_proxy();
      if (!kRows && t.last - k < Config::kStageK) clear_end(a, b, t.last - k, group);
      mma::fence();
      multiply_stage(sums, a, b, k == t.first);
      mma::commit();
      mma::wait<1>();
      if (used >= 0) release(ring, used, lane);
      used = ring.slot;
      meanwhile();  // not before the release: loads would start later
    }
    mma::wait<0>();
    mma::pin(sums);
    if (used >= 0) release(ring, used, lane);
  }
  // Of rows that are none of the group's, nothing is multiplied.
  SOLSTICE_DEVICE void pass_over(Slots& ring, const GroupTile& t, int lane) const {
    for (int k = t.first; k < t.last; k += Config::kStageK, ring.advance()) {
      ring.wait_full();
      release(ring, ring.slot, lane);
    }
  }

  SOLSTICE_DEVICE static void clear(float (&sums)[kRegisters]) {
#pragma unroll
    for (int i = 0; i < kRegisters; ++i) sums[i] = 0;
  }

  SOLSTICE_DEVICE auto rows_of(const GroupTile& t, int m0, u32 staging, int lane) const {
    if constexpr (kRows) {
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

  template <class Epilogue>
  SOLSTICE_DEVICE void consume(const Epilogue& epilogue, const TensorMap* map_out, int group) const {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    const u32 staging = shared + Config::kOffsetStaging + (group * 4 + warp) * kStageBuffers * kStageBytes;
    Slots ring = slots();
    auto tiles = walk();
    GroupTile t, next;
    DeferredTile<decltype(rows_of(t, 0, 0, 0)), kRegisters> results;
    bool found = false;
    for (bool more = tiles.next(t);; more = found, t = next) {
      float sums[kRegisters];
      bool walked = !more;
      const auto walk_on = [&] {
        if (!walked) found = tiles.next(next);
        walked = true;
      };
      const bool any = more && t.m0 + group * 64 < t.m;
      if (any) {
        if (!kRows && t.first >= t.last) clear(sums);
        accumulate(sums, ring, t, group, lane, [&] {
          if constexpr (kDefers<Epilogue>) results.write_step(epilogue, map_out);
          walk_on();
        });
      } else if (more) {
        pass_over(ring, t, lane);
      }
      walk_on();
      if constexpr (kDefers<Epilogue>) results.write_all(epilogue, map_out);
      if (!more) break;
      const int m0 = t.m0 + group * 64 + warp * 16;
      if (!any || m0 >= t.m) continue;
      if constexpr (kDefers<Epilogue>)
        results.take(epilogue, rows_of(t, m0, staging, lane), sums);
      else
        write_tile(epilogue, rows_of(t, m0, staging, lane), map_out, sums);
    }
    if constexpr (Epilogue::kTma) {
      if (lane == 0) copy::store_wait_all();
    }
  }
};

// The body of a kernel launched with Config::kThreads threads, Config::kSharedBytes + 4 * (groups + 1) bytes of dynamic
// shared memory and clusters of Config::kCluster blocks; the grid is a multiple of the cluster.
template <class Config, class Epilogue>
SOLSTICE_DEVICE void run_grouped(const TensorMap& map_a, const TensorMap& map_b, const TensorMap& map_out, const GroupedProblem& p,
                                 const Epilogue& epilogue) {
  u8* const memory = ptx::dynamic_shared();
  int* const offsets = reinterpret_cast<int*>(memory + Config::kOffsetGroups);
  const u32 rank = Config::kCluster > 1 ? ptx::cluster_rank() : 0;
  Grouped<Config> gemm{&map_a, &map_b, p, ptx::shared_address(memory), offsets, rank, true, true, true};
  const int group = __shfl_sync(~0u, threadIdx.x / 128, 0);
  if (threadIdx.x == 0) gemm.init_barriers();
  ptx::wait_for_previous_kernel();
  ptx::let_next_kernel_start();
  for (int i = threadIdx.x; i <= p.table.groups; i += Config::kThreads) offsets[i] = p.table.offsets()[i];
  gemm.plain_rows = p.table.plain(0);
  gemm.plain_a = p.table.plain(p.a.list);
  gemm.plain_b = p.table.plain(p.b.list);
  if constexpr (Config::kCluster > 1)
    ptx::cluster_sync();
  else
    __syncthreads();
  if (group == 2) {
    ptx::shrink_registers<40>();
    gemm.produce();
  } else {
    ptx::grow_registers<232>();
    gemm.consume(epilogue, &map_out, group);
  }
  if constexpr (Config::kCluster > 1) {
    ptx::sync_warp();
    ptx::cluster_sync();
  }
}

}  // namespace solstice::gemm
