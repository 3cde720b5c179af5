// The first launch of a grouped product: which rows belong to which group.
//
// One block. It writes where each group begins in the order by groups (stable: rows of one group keep their order) and,
// unless the rows already lie so, that order. Rows whose number names no group are left out. What a row reads of an
// operand may lie elsewhere (`x[p[m]//K, k]`): that row of the operand is written beside it.
//
// The table: offsets[groups + 1], flags[3], signals, then three lists of `rows` entries each (the last two where they
// are needed): rows of the result, of A and of B, by position in the order. A flag says that its list is 0, 1, 2, ...
// for every row that belongs to a group; the list is then not written, and the copy engine reads boxes of rows. Signals
// are zeros for the blocks of the product.
#pragma once

#include "ptx/types.h"

// part: sort

namespace solstice::gemm {

inline constexpr int kGroupRowsThreads = 1024;
inline constexpr int kGroupRowsWarps = kGroupRowsThreads / 32;

struct GroupTable {
  int* data;
  int groups, rows, signals;

  SOLSTICE_DEVICE int* offsets() const { return data; }
  SOLSTICE_DEVICE int& plain(int list) const { return data[groups + 1 + list]; }
  SOLSTICE_DEVICE int* signal(int i) const { return data + groups + 4 + i; }
  SOLSTICE_DEVICE int* list(int i) const { return data + groups + 4 + signals + static_cast<i64>(i) * rows; }
};

// Members of `Rows`: int group(int m), any value; kSources; int source(int which, int m), a row of that operand for
// each which < kSources. Buckets are 0 for what lies before the first group, groups + 1 for what lies behind the last.
template <class Rows>
SOLSTICE_DEVICE int bucket_of(const Rows& of, int groups, int m) {
  const i64 g = of.group(m);
  return static_cast<int>(g < -1 ? -1 : g > groups ? groups : g) + 1;
}

// True where rows lie by group; then a group begins where the number changes (else what is written is wrong). For all
// kThreads of a block. Loads of a batch are on their way together (with loads under a condition only five or so would
// be): one block has to wait for them, and nothing else runs. A product's blocks meet this code cold, so it is short.
template <int kThreads, class Rows>
SOLSTICE_DEVICE bool find_offsets(const Rows& of, int groups, int rows, int* offsets) {
  constexpr int kBatch = 16, kRun = 32 * kBatch;  // a warp's rows, one after another
  const int lane = threadIdx.x % 32;
  const auto bucket = [&](int m) {
    const int of_row = bucket_of(of, groups, larger(0, smaller(m, rows - 1)));
    return m < 0 ? 0 : m < rows ? of_row : groups + 1;
  };
  bool sorted = true;
#pragma unroll 1
  for (int first = threadIdx.x / 32 * kRun; first <= rows; first += kThreads / 32 * kRun) {
    int own[kBatch], before = bucket(first - 1);  // of lane 0: the bucket of the row before its own
#pragma unroll
    for (int i = 0; i < kBatch; ++i) own[i] = bucket(first + 32 * i + lane);
    u32 begins = 0;  // rows where a group begins: few, so that the rest of the work is not unrolled
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const int turned = __shfl_sync(~0u, own[i], (lane + 31) % 32), left = lane == 0 ? before : turned;
      sorted &= left <= own[i];
      begins |= left < own[i] ? 1u << i : 0u;
      before = turned;
    }
#pragma unroll 1
    for (; begins != 0; begins &= begins - 1) {
      const int m = first + 32 * (__ffs(begins) - 1) + lane, end = bucket(m);
#pragma unroll 1
      for (int g = bucket(m - 1); g < end; ++g)
        atomicExch(&offsets[g], m);  // of rows in no order several write, and none is used
    }
  }
  return __syncthreads_and(sorted);
}

// So few rows the blocks of the product look through themselves: where they lie by group, nothing waits for the sort.
inline constexpr int kMostOwnRows = 16384;

template <class Rows>
struct GroupRows {
  const Rows& of;
  GroupTable table;
  int* counts;  // shared: [groups + 2][warps]

  SOLSTICE_DEVICE int bucket(int m) const { return bucket_of(of, table.groups, m); }
  SOLSTICE_DEVICE int buckets() const { return table.groups + 2; }

  // A warp takes one run of rows; f(m, bucket, rank, count), for every lane: the row's bucket, or -1 for a lane without
  // a row, its rank among those of its bucket in these 32, and how many they are.
  template <class F>
  SOLSTICE_DEVICE void for_each_run(F&& f) const {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int length = round_up(ceil_div(table.rows, kGroupRowsWarps), 32);
    const int last = smaller(table.rows, (warp + 1) * length);
    for (int first = warp * length; first < last; first += 32) {
      const int m = first + lane;
      const int b = m < last ? bucket(m) : -1;
      const u32 same = __match_any_sync(~0u, b);
      f(m, b, __popc(same & ((1u << lane) - 1)), __popc(same));
      __syncwarp();
    }
  }

  SOLSTICE_DEVICE void sort() const {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = threadIdx.x; i < buckets() * kGroupRowsWarps; i += kGroupRowsThreads) counts[i] = 0;
    __syncthreads();
    for_each_run([&](int, int b, int rank, int count) {
      if (b >= 0 && rank == 0) counts[b * kGroupRowsWarps + warp] += count;
    });
    __syncthreads();
    // One warp turns counts into positions, a bucket at a time: entry [b][w] is where warp w's rows of b begin.
    if (warp == 0) {
      int total = 0;
      for (int b = 0; b < buckets(); ++b) {
        const int own = counts[b * kGroupRowsWarps + lane];
        int sum = own;
        for (int d = 1; d < 32; d *= 2) {
          const int other = __shfl_up_sync(~0u, sum, d);
          if (lane >= d) sum += other;
        }
        counts[b * kGroupRowsWarps + lane] = total + sum - own;
        if (lane == 0 && b > 0) table.offsets()[b - 1] = total;
        total += __shfl_sync(~0u, sum, 31);
      }
    }
    __syncthreads();
    for_each_run([&](int m, int b, int rank, int count) {
      const int at = b >= 0 ? counts[b * kGroupRowsWarps + warp] + rank : 0;
      __syncwarp();
      if (b >= 0 && rank == 0) counts[b * kGroupRowsWarps + warp] += count;
      if (b >= 0) table.list(0)[at] = m;
    });
    __syncthreads();
  }

  SOLSTICE_DEVICE void write_sources(bool in_order) const {
#pragma unroll
    for (int which = 0; which < Rows::kSources; ++which) {
      const int first = table.offsets()[0], last = table.offsets()[table.groups];
      bool plain = true;
      for (int at = first + threadIdx.x; at < last; at += kGroupRowsThreads) {
        const int source = of.source(which, in_order ? at : table.list(0)[at]);
        table.list(1 + which)[at] = source;
        plain &= source == at;
      }
      plain = __syncthreads_and(plain);
      if (threadIdx.x == 0) table.plain(1 + which) = plain;
    }
  }

  SOLSTICE_DEVICE void run() const {
    for (int i = threadIdx.x; i < table.signals; i += kGroupRowsThreads) *table.signal(i) = 0;
    const bool in_order = find_offsets<kGroupRowsThreads>(of, table.groups, table.rows, table.offsets());
    if (!in_order) sort();
    if (threadIdx.x == 0) table.plain(0) = in_order;
    __syncthreads();
    write_sources(in_order);
  }
};

// The body of a kernel of one block of kGroupRowsThreads threads and 4 * (groups + 2) * kGroupRowsWarps bytes of
// dynamic shared memory.
template <class Rows>
SOLSTICE_DEVICE void run_group_rows(const Rows& of, const GroupTable& table, int* shared) {
  GroupRows<Rows>{of, table, shared}.run();
}

}  // namespace solstice::gemm
