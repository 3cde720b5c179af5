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

#include "copy/tma.h"
#include "epilogue/deferred.h"
#include "gemm/grouped_walk.h"
#include "mma/wgmma.h"
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
};

template <class Config>
struct Grouped {
  using Type = typename Config::Type;
  using Slots = typename Config::Slots;
  static constexpr bool kRows = Config::kRagged == Ragged::kRows;
  static constexpr int kN = Config::kN, kCluster = Config::kCluster;
  static constexpr int kRegisters = kN / 2;
  static constexpr int kProducers = 128;
  // Of a thread; 504 for the three warpgroups. Lines of two operands, which a gradient may gather, need more than 40.
  static constexpr int kProducerRegisters = kRows ? 40 : 88, kConsumerRegisters = kRows ? 232 : 208;

  const TensorMap* map_a;
  const TensorMap* map_b;
  const GroupedProblem& p;
  u32 shared;
  const int* offsets;
  GroupTile* told;  // tiles of which the producer has told the consumers
  u32 rank;         // in the cluster
  u32 scattered;    // what does not lie one after another: bit 0 rows of the result, 1 lines of A, 2 lines of B

  SOLSTICE_DEVICE static Slots slots(u32 shared) { return Slots(shared, {shared + Config::kOffsetBarriers}); }
  SOLSTICE_DEVICE Slots slots() const { return slots(shared); }
  SOLSTICE_DEVICE GroupWalk<Config> walk() const { return {p, offsets, static_cast<int>(rank)}; }
  // Operands whose lines do not lie one after another come line by line.
  SOLSTICE_DEVICE bool gathers_a() const { return scattered & 2; }
  SOLSTICE_DEVICE bool gathers_b() const { return !kRows && scattered & 4; }

  SOLSTICE_DEVICE static void init_barriers(u32 shared) {
    slots(shared).init(kProducers + 1, 8 * kCluster);
    ptx::barrier_init_fence();
  }

  // ---- the producer warpgroup
  // The boxes of an operand for this CTA, or, where both of a cluster need the same lines, this CTA's half for both.
  template <mma::Major kMajor, int kLines>
  SOLSTICE_DEVICE void load_operand(u32 to, const TensorMap* map, int line, int k, int z, u32 full, bool shared) const {
    constexpr bool kByK = kMajor == mma::Major::kK;
    constexpr int kBoxes = kByK ? kCluster : kLines / 64, kBoxLines = kLines / kBoxes, kPart = kBoxes / kCluster;
#pragma unroll
    for (int i = 0; i < kBoxes; ++i) {
      const int x = kByK ? k : line + i * kBoxLines, y = kByK ? line + i * kBoxLines : k;
      const u32 place = to + i * kBoxLines * mma::kRowBytes;
      if (kCluster == 1 || !shared)
        copy::load_box(place, map, x, y, z, full);
      else if (i / kPart == static_cast<int>(rank))
        copy::load_box_multicast(place, map, x, y, z, full, (1 << kCluster) - 1);
    }
  }
  SOLSTICE_DEVICE void load_a(const Slots& ring, const GroupTile& t, int k) const {
    load_operand<Config::kMajorA, Config::kTileM>(ring.address(), map_a, t.m0, k, 0, ring.full(), t.along_n);
  }
  SOLSTICE_DEVICE void load_b(const Slots& ring, const GroupTile& t, int k) const {
    load_operand<Config::kMajorB, kN>(ring.address() + Config::kPlaneA, map_b, t.n0, k, kRows ? t.group : 0,
                                      ring.full(), !t.along_n);
  }

  // Consumers learn what a tile is with its first stage. Where there is no k, and for the tile of no group behind the
  // last one, a stage comes with nothing in it.
  SOLSTICE_DEVICE static int place_behind(int place) { return place + 1 == Config::kTold ? 0 : place + 1; }
  SOLSTICE_DEVICE void tell(const Slots& ring, int place, const GroupTile& t) const {
    ring.wait_empty();
    told[place] = t;
  }
  SOLSTICE_DEVICE static void pass(Slots& ring, int arrivals) {
    ptx::barrier_arrive(ring.full(), arrivals);
    ring.advance();
  }

  // One thread, where the copy engine brings all.
  SOLSTICE_DEVICE void produce_boxes() const {
    Slots ring = slots();
    auto tiles = walk();
    int place = 0;
    GroupTile t;
    for (; tiles.next(t); place = place_behind(place)) {
      tell(ring, place, t);
#pragma unroll 1
      for (int k = t.first; k < t.last; k += Config::kStageK, ring.advance()) {
        ring.wait_empty();
        ptx::barrier_arrive_expect(ring.full(), Config::kPlaneA + Config::kPlaneB);
        load_a(ring, t, k);
        load_b(ring, t, k);
        ptx::barrier_arrive(ring.full(), kProducers);
      }
      if (!kRows && t.first >= t.last) pass(ring, kProducers + 1);
    }
    t.group = -1, t.first = t.last = 0;
    tell(ring, place, t);
    pass(ring, kProducers + 1);
  }

  // All threads wait for a slot, also where one fills it: a thread that fell a round of the ring behind would take one
  // fill for another.
  SOLSTICE_DEVICE void produce_gathered() const {
    const int thread = threadIdx.x % kProducers;
    Slots ring = slots();
    auto tiles = walk();
    const bool gather_a = gathers_a(), gather_b = gathers_b();
    const int arrivals = thread == 0 ? 2 : 1;
    int place = 0;
    GroupTile t;
    for (; tiles.next(t); place = place_behind(place)) {
      if (thread == 0) tell(ring, place, t);
      Lines<kRows ? Config::kTileM : 64> lines_a;
      Lines<64> lines_b;
      // Of a gradient, a stage's lines are looked up while the one before is on its way.
      const auto find = [&](int k) {
        if (gather_a) lines_a.find(p.table, p.a, !gather_a, kRows ? t.m0 : k, kRows ? t.m : t.last, thread);
        if (gather_b) lines_b.find(p.table, p.b, !gather_b, k, t.last, thread);
      };
      find(t.first);
#pragma unroll 1
      for (int k = t.first; k < t.last; k += Config::kStageK, ring.advance()) {
        ring.wait_empty();
        if (thread == 0) {
          ptx::barrier_arrive_expect(ring.full(), (gather_a ? 0 : Config::kPlaneA) + (gather_b ? 0 : Config::kPlaneB));
          if (!gather_a) load_a(ring, t, k);
          if (!gather_b) load_b(ring, t, k);
        }
        if constexpr (kRows) {
          gather_rows(ring.address(), thread, p.a, lines_a, k, p.k);
        } else {
          if (gather_a) gather_k<Config::kTileM>(ring.address(), thread, p.a, lines_a, t.m0, p.m);
          if (gather_b) gather_k<kN>(ring.address() + Config::kPlaneA, thread, p.b, lines_b, t.n0, p.n);
        }
        copy::async_arrive(ring.full());
        if (!kRows) find(k + Config::kStageK);
      }
      if (!kRows && t.first >= t.last) ring.wait_empty(), pass(ring, arrivals);
    }
    t.group = -1, t.first = t.last = 0;
    if (thread == 0) tell(ring, place, t);
    ring.wait_empty();
    pass(ring, arrivals);
  }

  // ---- consumers: one warpgroup each
  SOLSTICE_DEVICE static void release(const Slots& ring, int slot, int lane) {
    ring.template release<kCluster, pipeline::Readers::kWarps>(slot, lane, 0);
  }

  SOLSTICE_DEVICE static void multiply(float (&sums)[kRegisters], u32 a, u32 b, bool fresh) {
    using Instruction = mma::Wgmma<Type, kN, Config::kMajorA == mma::Major::kMN, Config::kMajorB == mma::Major::kMN>;
#pragma unroll
    for (int k = 0; k < mma::kSteps; ++k)
      Instruction::run(sums, mma::descriptor<Config::kMajorA>(a, k), mma::descriptor<Config::kMajorB>(b, k),
                       k > 0 || !fresh);
  }
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

  SOLSTICE_DEVICE void multiply_stage(float (&sums)[kRegisters], const Slots& ring, int left, int group,
                                      bool fresh) const {
    ring.wait_full();
    const u32 a = ring.address() + group * 64 * mma::kRowBytes, b = ring.address() + Config::kPlaneA;
    if (gathers_a() || gathers_b()) ptx::fence_async_proxy();
    if (!kRows && left < Config::kStageK) clear_end(a, b, left, group);
    mma::fence();
    multiply(sums, a, b, fresh);
    mma::commit();
  }

  // `meanwhile` is called once a stage, while the tensor cores are at work. Where sums may be added to (`collect`), the
  // first stage is written out: the compiler then sees that its products start from zero, and lets products overlap.
  template <class F>
  SOLSTICE_DEVICE void accumulate(float (&sums)[kRegisters], Slots& ring, const GroupTile& t, int group, int lane,
                                  F&& meanwhile) const {
    int used = -1, k = t.first;
    if constexpr (kRows) {
      multiply_stage(sums, ring, t.last - k, group, true);
      used = ring.slot, k += Config::kStageK;
      ring.advance();
    }
#pragma unroll 1
    for (; k < t.last; k += Config::kStageK, ring.advance()) {
      multiply_stage(sums, ring, t.last - k, group, !kRows && k == t.first);
      mma::wait<1>();
      if (used >= 0) release(ring, used, lane);
      used = ring.slot;
      meanwhile();  // not before the release: loads would start later
    }
    mma::wait<0>();
    mma::pin(sums);
    if (used >= 0) release(ring, used, lane);
  }
  // Of rows that are none of the group's, and where there is no k, nothing is multiplied.
  SOLSTICE_DEVICE void pass_over(Slots& ring, const GroupTile& t, int lane) const {
    int k = t.first;
#pragma unroll 1
    do {
      ring.wait_full();
      release(ring, ring.slot, lane);
      ring.advance();
      k += Config::kStageK;
    } while (k < t.last);
  }

  // Of the last tiles, whose k clusters share; the sort, which runs before, clears the signals.
  struct Workspace {
    const GroupedProblem& p;
    u32 rank;

    template <int kGroups, int kCount>
    SOLSTICE_DEVICE float* sums(int cluster, int group) const {
      return p.partials + ((static_cast<i64>(cluster) * kCluster + rank) * kGroups + group) * (128 * kCount);
    }
    template <int kGroups>
    SOLSTICE_DEVICE int* signal(int cluster, int group) const {
      return p.table.signal((cluster * kCluster + rank) * kGroups + group);
    }
  };

  SOLSTICE_DEVICE static void clear(float (&sums)[kRegisters]) {
#pragma unroll
    for (int i = 0; i < kRegisters; ++i) sums[i] = 0;
  }

  SOLSTICE_DEVICE auto rows_of(const GroupTile& t, int m0, u32 staging, int lane) const {
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

  SOLSTICE_DEVICE bool has_part(const GroupTile& t, int group) const { return t.m0 + group * 64 < t.m && t.n0 < p.n; }

  template <class Epilogue>
  SOLSTICE_DEVICE void consume(const Epilogue& epilogue, const TensorMap* map_out, int group) const {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    const u32 staging = shared + Config::kOffsetStaging + (group * 4 + warp) * kStageBuffers * kStageBytes;
    const int cluster = blockIdx.x / kCluster;
    Slots ring = slots();
    DeferredTile<decltype(rows_of(GroupTile(), 0, 0, 0)), kRegisters> results;
    const auto finish = [&](const GroupTile& t, const float(&sums)[kRegisters]) {
      const int m0 = t.m0 + group * 64 + warp * 16;
      if (m0 >= t.m) return;
      if constexpr (kDefers<Epilogue>)
        results.take(epilogue, rows_of(t, m0, staging, lane), map_out, sums);
      else
        write_tile<kRegisters>(epilogue, rows_of(t, m0, staging, lane), map_out, sums);
    };
    for (int place = 0;; place = place_behind(place)) {
      ring.wait_full();
      const GroupTile t = told[place];
      ptx::sync_warp();  // every lane has read it: one of them releases the tile's slots
      const bool more = t.group >= 0, any = more && has_part(t, group), multiplies = any && (kRows || t.first < t.last);
      float sums[kRegisters];
      if (multiplies) {
        accumulate(sums, ring, t, group, lane, [&] {
          if constexpr (kDefers<Epilogue>) results.write_next(epilogue, map_out);
        });
      } else {
        pass_over(ring, t, lane);
        if constexpr (!kRows) clear(sums);
      }
      if constexpr (kDefers<Epilogue>) results.write_rest(epilogue, map_out);
      if (!more) break;
      if (!any) continue;
      if constexpr (kRows) {
        const Workspace workspace{p, rank};
        const pipeline::StreamKFixup<Workspace, 2, kRegisters, 32, pipeline::ClearedByPreviousKernel> fixup{workspace,
                                                                                                            group};
        if (t.hands_on) {
          fixup.store(sums, cluster);
          continue;
        }
        if (t.from < cluster) fixup.add(sums, t.from, cluster, [](int other) { return other; });
      }
      finish(t, sums);
    }
    if constexpr (Epilogue::kTma) {
      if (lane == 0) copy::store_wait_all();
    }
  }
};

// How many tiles all groups have, behind their offsets.
template <class Config>
SOLSTICE_DEVICE void count_tiles(const GroupedProblem& p, int* offsets) {
  int* const total = offsets + p.table.groups + 1;  // 0 to begin with
#pragma unroll 1
  for (int g = threadIdx.x; g < p.table.groups; g += Config::kThreads)
    atomicAdd(total, order_of_group<Config>(p, offsets[g + 1] - offsets[g]).count());
}

// The body of a kernel launched with Config::kThreads threads, Config::kSharedBytes + 4 * (groups + 3) bytes of dynamic
// shared memory and clusters of Config::kCluster blocks; the grid is a multiple of the cluster, and all of it is
// resident (blocks wait for the sums of others). Launched with programmatic dependence behind the sort, which itself
// waits for all before it.
template <class Config, class Rows, class Epilogue>
SOLSTICE_DEVICE void run_grouped(const TensorMap& map_a, const TensorMap& map_b, const TensorMap& map_out,
                                 const GroupedProblem& p, const Rows& rows, const Epilogue& epilogue) {
  u8* const memory = ptx::dynamic_shared();
  int* const offsets = reinterpret_cast<int*>(memory + Config::kOffsetGroups);
  int* const total = offsets + p.table.groups + 1;
  int* const scattered = total + 1;
  using Gemm = Grouped<Config>;
  const u32 shared = ptx::shared_address(memory);
  if (threadIdx.x == 0) {
    copy::prefetch(&map_a);
    copy::prefetch(&map_b);
    *total = *scattered = 0;
    Gemm::init_barriers(shared);
  }
  const bool own = Rows::kSources == 0 && p.table.rows <= kMostOwnRows &&
                   find_offsets<Config::kThreads>(rows, p.table.groups, p.table.rows, offsets);
  if (!own) {
    ptx::wait_for_previous_kernel();
#pragma unroll 1
    for (int i = threadIdx.x; i <= p.table.groups; i += Config::kThreads) offsets[i] = p.table.offsets()[i];
    if (threadIdx.x == 0)
      *scattered = !p.table.plain(0) | !p.table.plain(p.a.list) << 1 | !p.table.plain(p.b.list) << 2;
    __syncthreads();
  }
  ptx::let_next_kernel_start();
  if constexpr (Gemm::kRows) count_tiles<Config>(p, offsets);
  if constexpr (Config::kCluster > 1)
    ptx::cluster_sync();
  else
    __syncthreads();
  // Made by each side for itself: what both had from before would be kept in memory for the producer's few registers.
  const auto make = [&] {
    GroupTile* const told = reinterpret_cast<GroupTile*>(memory + Config::kOffsetTold);
    const u32 rank = Config::kCluster > 1 ? ptx::cluster_rank() : 0,
              which = ptx::load_shared_u32(ptx::shared_address(scattered));
    return Gemm{&map_a, &map_b, p, shared, offsets, told, rank, which};
  };
  const auto warpgroup = [] { return __shfl_sync(~0u, threadIdx.x / 128, 0); };
  if (warpgroup() == 2) {
    ptx::shrink_registers<Gemm::kProducerRegisters>();
    const Gemm gemm = make();
    if (gemm.gathers_a() || gemm.gathers_b())
      gemm.produce_gathered();
    else if (threadIdx.x % Gemm::kProducers == 0)
      gemm.produce_boxes();
  } else {
    ptx::grow_registers<Gemm::kConsumerRegisters>();
    const Gemm gemm = make();
    gemm.consume(epilogue, &map_out, warpgroup());
  }
  if (own) ptx::wait_for_previous_kernel();  // what follows this launch follows the sort as well
  if constexpr (Config::kCluster > 1) {
    ptx::sync_warp();
    ptx::cluster_sync();
  }
}

}  // namespace solstice::gemm
