// The product with one operand read once, in its own format: for few rows (or columns) of the other operand, where a
// split pass that writes planes and reads them back would move three times the bytes, and for few tiles with a long
// k.
//
// Its parts:
// - the streamed operand (mainloop/line_source.h): a warp copies its own 16 lines of 64 k, several chunks ahead;
// - its fragments (mainloop/fragments_*.h): scaled or lifted, and split into planes (TF32: rounded) in registers;
// - the held operand (mainloop/held_source.h): planes that the split pass has made, one thread brings them in;
// - the main loop (mainloop/streamed.h);
// - the guard (stream_guard.h), and the sums of split-K (epilogue/split_k.h), which finish.h adds up.
//
// Lines of the streamed operand are the rows of the accumulator, lines of the held one its columns, whichever of them
// is A. Blocks of a cluster have neighbouring lines of the streamed operand: each brings a part of the held planes for
// all. Blocks share the k of a tile (`splits`).
#pragma once

#include "epilogue/split_k.h"
#include "gemm/stream_guard.h"
#include "gemm/streams.h"
#include "kernel/warp_specialized.h"
#include "mainloop/fragments_bf16x6.h"
#include "mainloop/fragments_fp16x3.h"
#include "mainloop/fragments_tf32.h"
#include "mainloop/streamed.h"

namespace solstice::gemm {

static_assert(mainloop::kChunkK == kChunk, "a chunk has one scale");

// kGroups warpgroups, of 64 lines of the streamed operand; kN lines of the held one (those of mma/wgmma_held.h).
template <int kGroups_, int kN_>
struct StreamTile {
  static constexpr int kGroups = kGroups_, kN = kN_;
};
// Chunks of the streamed operand, of each warp, and of the held one.
template <int kOfWarp, int kOfHeld>
struct StreamSlots {
  static constexpr int kWarp = kOfWarp, kHeld = kOfHeld;
};

// Math: Fp16x3, Bf16x6Lifted, or Tf32; Side: streams.h; kMajor, kVector: of the streamed operand (LineSlot); kCluster:
// blocks that share held planes.
template <class Math_, class Side_, mma::Major kMajor, int kVector, mma::Major kMajorHeld, class Tile, class Slots,
          int kCluster_>
struct StreamConfig {
  using Math = Math_;
  using Side = Side_;
  using Guard = StreamGuard<Math>;
  static constexpr int kN = Tile::kN, kCluster = kCluster_;
  static constexpr int kWarps = 4 * Tile::kGroups, kThreads = 32 * kWarps, kTileRows = mainloop::kWarpLines * kWarps;

  using HeldTile = mainloop::HeldTile<Math, kMajorHeld, kN>;
  using Held = mainloop::HeldSource<HeldTile, Slots::kHeld, kCluster>;
  using RingHeld = typename Held::Ring;
  using Fragments = mainloop::Fragments<Math, HeldTile>;
  using Lines = mainloop::LineSource<mainloop::LineSlot<kMajor, kVector, Fragments::kUnaligned>, Slots::kWarp>;
  static constexpr pipeline::Readers kReaders = Math::kScaled ? pipeline::Readers::kLanes : pipeline::Readers::kWarps;
  using MainLoop = mainloop::Streamed<Fragments, Lines, Held, kReaders, Guard>;

  // Shared memory, in this order.
  static constexpr int kOffsetScales = RingHeld::kBytes;
  static constexpr int kOffsetStream = kOffsetScales + round_up(Held::Scales::kBytes, 128);
  static constexpr int kOffsetBarriers = kOffsetStream + kWarps * Lines::kBytes;
  static constexpr int kOffsetWords = kOffsetBarriers + RingHeld::kBarriersBytes;  // of the guard, a warp each
  static constexpr int kSharedBytes = kOffsetWords + 8 * kWarps;
  static_assert(Slots::kWarp >= 2 && Slots::kHeld >= 2, "a chunk is awaited while the next ones are on their way");
  static_assert(kSharedBytes <= 232448, "more shared memory than a block may have");
};

struct StreamProblem {
  mainloop::LineOperand streamed;
  int rows, columns;  // lines of the streamed and of the held operand
  int k, batches, splits;
  const u8* scales;  // of the held operand, floats: [batch][chunk][scale_stride]
  int scale_stride;
  float* partial;
  GuardWord* guard;
};

// A block's share of the product.
template <class Config>
struct StreamTask {
  int batch, row, column;  // of the tile
  int rank;                // in the cluster
  int split;
  mainloop::Chunks chunks;

  SOLSTICE_DEVICE explicit StreamTask(const StreamProblem& p) {
    const int columns = ceil_div(p.columns, Config::kN), rows = ceil_div(p.rows, Config::kTileRows * Config::kCluster);
    int block = static_cast<int>(blockIdx.x) / Config::kCluster;
    rank = static_cast<int>(blockIdx.x) % Config::kCluster;
    column = block % columns * Config::kN;
    block /= columns;
    split = block % p.splits;
    block /= p.splits;
    row = (block % rows * Config::kCluster + rank) * Config::kTileRows;
    batch = block / rows;
    chunks = {split, p.splits, ceil_div(ceil_div(p.k, kChunk) - split, p.splits), p.k};
  }
};

template <class Config>
SOLSTICE_DEVICE void consume_stream(const TensorMap& map, const StreamProblem& p, const StreamTask<Config>& task,
                                    u32 shared, const typename Config::RingHeld& ring) {
  using Lines = typename Config::Lines;
  const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
  const int row = task.row + warp * mainloop::kWarpLines;
  Lines lines(p.streamed, task.batch, p.rows, row, task.chunks, shared + Config::kOffsetStream + warp * Lines::kBytes,
              lane);
  typename Config::Held held{{&map, p.scales, p.scale_stride},
                             task.batch,
                             task.column,
                             ceil_div(p.k, kChunk),
                             task.chunks,
                             static_cast<u32>(task.rank),
                             ring,
                             typename Config::Held::Scales(shared + Config::kOffsetScales)};
  typename Config::Guard guard;
  float sums[Config::kN / 2] = {};
  typename Config::MainLoop loop(lines, held, guard);
  loop.run(sums);
  [[maybe_unused]] GuardWord word;
  if constexpr (Config::Guard::kWords > 0) word = guard.word(sums);
  Config::Fragments::finish(sums);
  const epilogue::PartialSums<float> partial{p.partial, p.batches, Config::Side::m(p.rows, p.columns),
                                             Config::Side::n(p.rows, p.columns)};
  epilogue::store_partial<typename Config::Side>(partial, task.split, task.batch, sums, row + lane / 4,
                                                 task.column + 2 * (lane % 4), p.rows, p.columns);
  if constexpr (Config::Guard::kWords > 0) {
    GuardWord* words = reinterpret_cast<GuardWord*>(ptx::dynamic_shared() + Config::kOffsetWords);
    store_guard<Config::kThreads>(words, p.guard, static_cast<int>(blockIdx.x), word);
  }
}

// The body of a kernel launched with Config::kThreads threads, Config::kSharedBytes of dynamic shared memory, clusters
// of Config::kCluster blocks and one cluster for each of ceil(rows / (kCluster * kTileRows)) x ceil(columns / kN),
// batch and split. The streamed operand is read before the launch that this one depends on has ended; that launch must
// not write it.
template <class Config>
SOLSTICE_DEVICE void run_stream(const TensorMap& map, const StreamProblem& p) {
  const u32 shared = ptx::shared_address(ptx::dynamic_shared());
  const StreamTask<Config> task(p);
  const typename Config::RingHeld ring(shared, {shared + Config::kOffsetBarriers});
  if (threadIdx.x == 0) {
    ring.init(1, Config::kWarps * pipeline::kArrivals<Config::kCluster, Config::kReaders>);
    ptx::barrier_init_fence();
  }
  kernel::meet<Config::kCluster>();
  consume_stream(map, p, task, shared, ring);
  kernel::part<Config::kCluster>();
}

}  // namespace solstice::gemm
