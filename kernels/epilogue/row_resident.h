// Results that need their row's results (softmax, layer norm, RMS norm behind a product), where a block, or a cluster
// of blocks along the columns, has whole rows in its accumulators. The rows are gone over in sweeps: all but the last
// find reductions, each thread of its own columns of two rows, then the four lanes that share them, then, in the order
// of their ranks, the blocks: each sends its findings to the shared memory of all of them. So every lane has its rows'
// results, which do not depend on timing. The last sweep gives what is stored. A generated epilogue provides
//
//   static constexpr bool kRowResident = true;
//   static constexpr int kSweeps;      // that find; the storing one is number kSweeps
//   static constexpr int kResults;     // findings of all sweeps
//   static constexpr int kFirst[];     // by sweep: its first finding; one more entry: kResults
//   static constexpr int kValues;      // of an element: most of any sweep
//   static constexpr int kColumns;     // of a row
//   static constexpr bool kStoresRows;
//   template <class T> static T start(int result);   // of finding number `result`, known when it is compiled
//   template <class T> static T combine(int result, T a, T b);
//
//   // Calls visit(load, element) once. Of row (batch, m), in = load(n) holds the operands of an element besides the
//   // accumulator; element(acc, in, n, out) computes its values, and may leave in `acc` the one value that later
//   // sweeps need instead of the accumulator.
//
//   template <int kSweep, class Visit>
//   void walk(int batch, int m, const double (&results)[kResults], Visit&& visit) const;
//
//   // Writes the values that a row has one of.
//   void store_row(int batch, int m, const double (&results)[kResults]) const;
#pragma once

#include "epilogue/staged.h"
#include "ptx/mbarrier.h"
#include "reduction/reduce.h"

// part: epilogue

namespace solstice::epilogue {

// A warp's share of the staging area: half of it for what is written, half for what blocks tell each other. That is two
// buffers, used in turn, each with a barrier: a block can be one exchange ahead of another, not two, since it needs the
// other's findings to go on.
inline constexpr int kResidentStaging = kStageBytes, kExchangeBarriers = 16,
                     kExchangeBuffer = (kStageBytes - kExchangeBarriers) / 2 / 16 * 16;

// Over groups of kLanes neighbouring lanes.
template <int kLanes, class Epilogue>
SOLSTICE_DEVICE double over_lanes(int result, double v) {
#pragma unroll
  for (int distance = kLanes / 2; distance > 0; distance /= 2)
    v = Epilogue::template combine<double>(result, v, reduction::shuffle_xor(v, distance));
  return v;
}

// Between warps of the same number in the kBlocks blocks of a cluster; each has the same 16 rows.
template <int kBlocks>
struct RowExchange {
  u32 shared;  // of the warp
  u32 rank;
  u32 turn = 0;

  SOLSTICE_DEVICE void init() const {  // one thread, before blocks meet
    ptx::barrier_init(shared, 1);
    ptx::barrier_init(shared + 8, 1);
  }

  // Of results kFirst .. kLast - 1, of the lane's two rows.
  template <class Epilogue, int kFirst, int kLast>
  SOLSTICE_DEVICE void run(double (&results)[2][Epilogue::kResults], int lane) {
    constexpr int kBytes = (kLast - kFirst) * kBlocks * 64;  // 16 rows
    static_assert(kBytes <= kExchangeBuffer, "more findings than an exchange holds");
    const u32 barrier = shared + 8 * (turn % 2), buffer = shared + kExchangeBarriers + turn % 2 * kExchangeBuffer;
    ptx::sync_warp();  // all lanes have used what the exchange before the last one left
    if (lane == 0) ptx::barrier_arrive_expect(barrier, kBytes);
    const auto place = [&](int result, int block, int half) {
      return buffer + 4 * (((result - kFirst) * kBlocks + block) * 16 + lane / 4 + 8 * half);
    };
#pragma unroll
    for (int i = 0; i < 2 * (kLast - kFirst); ++i) {
      const int result = kFirst + i / 2, half = i % 2;
      const float value = static_cast<float>(results[half][result]);
#pragma unroll
      for (int to = 0; to < kBlocks; to += 4) {
        const int block = to + lane % 4;
        if (kBlocks >= 4 || block < kBlocks)
          ptx::store_remote_async(place(result, static_cast<int>(rank), half), block, value, barrier);
      }
    }
    ptx::barrier_wait_cluster(barrier, turn / 2 % 2);
#pragma unroll
    for (int i = 0; i < 2 * (kLast - kFirst); ++i) {
      const int result = kFirst + i / 2, half = i % 2;
      double all = Epilogue::template start<double>(result);
#pragma unroll
      for (int block = 0; block < kBlocks; ++block)
        all = Epilogue::template combine<double>(
            result, all, static_cast<double>(ptx::from_bits(ptx::load_shared_u32(place(result, block, half)))));
      results[half][result] = all;
    }
    ++turn;
  }
};

// A sweep over a lane's two rows at once, whose elements of a column are neighbours in the text: what is read for the
// column is read once.
template <int kSweep, class Epilogue, class Tile, class Visit>
struct BothRows {
  const Epilogue& epilogue;
  const Tile& tile;
  const double (&results)[2][Epilogue::kResults];
  const Visit& visit;

  template <class Load, class Element>
  struct Row {
    const Load& load;
    const Element& element;
  };
  template <class Above>
  struct Second {
    const Above& above;
    const Visit& visit;
    template <class Load, class Element>
    SOLSTICE_DEVICE void operator()(const Load& load, const Element& element) const {
      visit(above, Row<Load, Element>{load, element});
    }
  };
  template <class Load, class Element>
  SOLSTICE_DEVICE void operator()(const Load& load, const Element& element) const {
    using Above = Row<Load, Element>;
    const Above above{load, element};
    epilogue.template walk<kSweep>(tile.batch, smaller(tile.own_line(2), tile.last_line()), results[1],
                                   Second<Above>{above, visit});
  }
  SOLSTICE_DEVICE void run() const {
    epilogue.template walk<kSweep>(tile.batch, smaller(tile.own_line(0), tile.last_line()), results[0], *this);
  }
};

// The end of the rows: that of the last tile, or inside one, whose other columns are left out.
enum class RowEnd { kOfTile, kInside };

// Goes over a lane's accumulators, 16 (eight columns of each of its rows) a step: step(number, values). What a step
// needs is loaded while the one before is computed. kAtOnce steps are a loop's body, behind which all accumulators move
// up and those that are done go to the end; 0: there is no loop. Text that is written for every accumulator is longer
// than the instruction cache.
template <int kAtOnce, RowEnd kEnd, class Tile, class Above, class Below, int kHalves, int kCount>
struct Steps {
  static constexpr int kAll = kHalves * kCount, kSteps = kAll / 16, kBody = kAtOnce == 0 ? kSteps : kAtOnce,
                       kMoved = 16 * kBody;
  const Tile& tile;
  const Above& above;
  const Below& below;
  float (&sums)[kHalves][kCount];

  SOLSTICE_DEVICE int column(int step, int i) const {
    const int n = tile.n0 + tile.column(step, i / 4, i % 4);
    return kEnd == RowEnd::kOfTile ? n : smaller(n, tile.n - 1);
  }

  template <int kValues, class Step>
  SOLSTICE_DEVICE void run(const Step& step) const {
    decltype(above.load(0)) in_above[8];
    decltype(below.load(0)) in_below[8];
    const auto load = [&](int number) {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        in_above[i] = above.load(column(number, i / 2 * 4 + i % 2));
        in_below[i] = below.load(column(number, i / 2 * 4 + i % 2));
      }
    };
    load(0);
#pragma unroll 1
    for (int first = 0; first < kSteps; first += kBody) {
#pragma unroll
      for (int s = 0; s < kBody; ++s) {
        float values[16][kValues];
#pragma unroll
        for (int i = 0; i < 16; ++i) {
          const int at = 16 * s + i, own = i / 4 * 2 + i % 2;
          float& acc = sums[at / kCount][at % kCount];
          if (i % 4 < 2)
            above.element(acc, in_above[own], column(first + s, i), values[i]);
          else
            below.element(acc, in_below[own], column(first + s, i), values[i]);
        }
        load(smaller(first + s + 1, kSteps - 1));
        step(first + s, values);
      }
      if constexpr (kBody < kSteps) {
        float done[kMoved];
#pragma unroll
        for (int i = 0; i < kMoved; ++i) done[i] = sums[i / kCount][i % kCount];
#pragma unroll
        for (int i = 0; i + kMoved < kAll; ++i)
          sums[i / kCount][i % kCount] = sums[(i + kMoved) / kCount][(i + kMoved) % kCount];
#pragma unroll
        for (int i = 0; i < kMoved; ++i) sums[(kAll - kMoved + i) / kCount][(kAll - kMoved + i) % kCount] = done[i];
      }
    }
  }
};

// A lane's partial results of its rows: in trees over eight columns, then in doubles.
template <int kAtOnce, int kSweep, RowEnd kEnd, class Epilogue, class Tile, int kHalves, int kCount>
struct RowFinder {
  static constexpr int kFirst = Epilogue::kFirst[kSweep], kLast = Epilogue::kFirst[kSweep + 1];
  const Tile& tile;
  float (&sums)[kHalves][kCount];
  double (&found)[2][kLast - kFirst];

  template <class Above, class Below>
  SOLSTICE_DEVICE void operator()(const Above& above, const Below& below) const {
    const Steps<kAtOnce, kEnd, Tile, Above, Below, kHalves, kCount> steps{tile, above, below, sums};
    steps.template run<Epilogue::kValues>([&](int step, const float(&values)[16][Epilogue::kValues]) {
#pragma unroll
      for (int f = 0; f < 2 * (kLast - kFirst); ++f) {
        const int r = f / 2, half = f % 2;
        float terms[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const bool inside = kEnd == RowEnd::kOfTile || tile.n0 + tile.column(step, i / 2, i % 2) < tile.n;
          terms[i] = inside ? values[4 * (i / 2) + 2 * half + i % 2][r] : Epilogue::template start<float>(kFirst + r);
        }
#pragma unroll
        for (int apart = 4; apart > 0; apart /= 2) {
#pragma unroll
          for (int i = 0; i < apart; ++i)
            terms[i] = Epilogue::template combine<float>(kFirst + r, terms[i], terms[i + apart]);
        }
        found[half][r] = Epilogue::template combine<double>(kFirst + r, found[half][r], static_cast<double>(terms[0]));
      }
    });
  }
};

template <int kAtOnce, int kSweep, RowEnd kEnd, class Epilogue, class Tile, int kHalves, int kCount, int kBlocks>
SOLSTICE_DEVICE void find_rows(const Epilogue& epilogue, const Tile& tile, float (&sums)[kHalves][kCount],
                               double (&results)[2][Epilogue::kResults], RowExchange<kBlocks>& exchange) {
  if constexpr (kSweep < Epilogue::kSweeps) {
    using Finder = RowFinder<kAtOnce, kSweep, kEnd, Epilogue, Tile, kHalves, kCount>;
    constexpr int kFirst = Finder::kFirst, kLast = Finder::kLast;
    double found[2][kLast - kFirst];
#pragma unroll
    for (int f = 0; f < 2 * (kLast - kFirst); ++f)
      found[f % 2][f / 2] = Epilogue::template start<double>(kFirst + f / 2);
    const Finder finder{tile, sums, found};
    BothRows<kSweep, Epilogue, Tile, Finder>{epilogue, tile, results, finder}.run();
#pragma unroll
    for (int f = 0; f < 2 * (kLast - kFirst); ++f)
      results[f % 2][kFirst + f / 2] = over_lanes<4, Epilogue>(kFirst + f / 2, found[f % 2][f / 2]);
    if constexpr (kBlocks > 1) exchange.template run<Epilogue, kFirst, kLast>(results, tile.lane);
    find_rows<kAtOnce, kSweep + 1, kEnd>(epilogue, tile, sums, results, exchange);
  }
}

template <class Epilogue, int kOutput = 0>
SOLSTICE_DEVICE constexpr int widest_output() {
  if constexpr (kOutput == Epilogue::kOutputs)
    return 1;
  else
    return larger(static_cast<int>(sizeof(ElementOf<Epilogue, kOutput>)), widest_output<Epilogue, kOutput + 1>());
}

template <int kOutput, class Epilogue, class Tile>
SOLSTICE_DEVICE void write_resident_outputs(const Epilogue& epilogue, const Tile& tile, const TensorMap* map, int step,
                                            const float (&values)[16][Epilogue::kValues]) {
  if constexpr (kOutput < Epilogue::kOutputs) {
    using T = ElementOf<Epilogue, kOutput>;
    constexpr int kBytes = kStageRows * kStageColumns * widest_output<Epilogue>(),
                  kBuffers = smaller(2, kResidentStaging / kBytes);
    const u32 buffer = tile.staging + (step * Epilogue::kOutputs + kOutput) % kBuffers * kBytes;
    if constexpr (Epilogue::kTma) {
      if (tile.lane == 0) copy::store_wait_read<kBuffers - 1>();
    }
    ptx::sync_warp();
#pragma unroll
    for (int i = 0; i < 16; i += 2)
      stage_pair<T>(buffer, tile.row(i % 4), tile.column(0, i / 4, i % 4), values[i][kOutput], values[i + 1][kOutput]);
    end_buffer<kOutput>(epilogue, tile, map, step, buffer);
    write_resident_outputs<kOutput + 1>(epilogue, tile, map, step, values);
  }
}

template <int kAtOnce, RowEnd kEnd, class Epilogue, class Tile, int kHalves, int kCount>
struct RowWriter {
  const Epilogue& epilogue;
  const Tile& tile;
  const TensorMap* map;
  float (&sums)[kHalves][kCount];

  template <class Above, class Below>
  SOLSTICE_DEVICE void operator()(const Above& above, const Below& below) const {
    const Steps<kAtOnce, kEnd, Tile, Above, Below, kHalves, kCount> steps{tile, above, below, sums};
    steps.template run<Epilogue::kValues>([&](int step, const float(&values)[16][Epilogue::kValues]) {
      write_resident_outputs<0>(epilogue, tile, map, step, values);
    });
  }
};

// A warp's 16 rows x 2*kHalves*kCount columns in wgmma's layout; the blocks of a cluster have the other columns.
template <int kAtOnce, class Epilogue, RowTile Tile, int kHalves, int kCount, int kBlocks>
SOLSTICE_DEVICE void write_row_resident(const Epilogue& epilogue, const Tile& tile, const TensorMap* map,
                                        float (&sums)[kHalves][kCount], RowExchange<kBlocks>& exchange) {
  constexpr RowEnd kEnd =
      Epilogue::kColumns % (2 * kHalves * kCount * kBlocks) == 0 ? RowEnd::kOfTile : RowEnd::kInside;
  double results[2][Epilogue::kResults];
  find_rows<kAtOnce, 0, kEnd>(epilogue, tile, sums, results, exchange);
  using Writer = RowWriter<kAtOnce, kEnd, Epilogue, Tile, kHalves, kCount>;
  const Writer writer{epilogue, tile, map, sums};
  BothRows<Epilogue::kSweeps, Epilogue, Tile, Writer>{epilogue, tile, results, writer}.run();
  if constexpr (Epilogue::kStoresRows) {
    if ((kBlocks == 1 || exchange.rank == 0) && tile.lane % 4 == 0) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int m = tile.own_line(2 * half);
        if (m <= tile.last_line()) epilogue.store_row(tile.batch, m, results[half]);
      }
    }
  }
}

}  // namespace solstice::epilogue
