// Elements that need their row's results (epilogue/row_resident.h), in fp32: a block takes 128 rows, leaves their sums
// in memory, tile by tile (simt.h), and goes over each row with a warp. Rows of any length; what is behind a product
// whose range guard fails, and for operands that the tensor cores do not take.
#pragma once

#include "epilogue/row_resident.h"
#include "gemm/simt.h"

// part: epilogue

namespace solstice::gemm {

// Stores sums [row][column], whatever is done with them.
struct SumsEpilogue {
  static constexpr int kOutputs = 1, kValues = 1;
  static constexpr bool kReduces = false;
  float* to;
  int columns;

  struct In {};
  SOLSTICE_DEVICE In load(int, int, int) const { return {}; }
  SOLSTICE_DEVICE void compute(float acc, const In&, int, int, int, float (&out)[1]) const { out[0] = acc; }
  template <int kOutput>
  SOLSTICE_DEVICE static constexpr auto element() {
    return float{};
  }
  template <int kOutput, class T>
  SOLSTICE_DEVICE void store(int, int m, int n, T value) const {
    to[static_cast<i64>(m) * columns + n] = value;
  }
};

template <int kSweep, class Epilogue>
struct LineFinder {
  static constexpr int kFirst = Epilogue::kFirst[kSweep], kLast = Epilogue::kFirst[kSweep + 1];
  float* line;
  int lane;
  double (&found)[kLast - kFirst];

  template <class Load, class Element>
  SOLSTICE_DEVICE void operator()(const Load& load, const Element& element) const {
#pragma unroll 1
    for (int n = lane; n < Epilogue::kColumns; n += 32) {
      float values[Epilogue::kValues];
      float acc = line[n];
      element(acc, load(n), n, values);
      line[n] = acc;
#pragma unroll
      for (int r = kFirst; r < kLast; ++r)
        found[r - kFirst] =
            Epilogue::template combine<double>(r, found[r - kFirst], static_cast<double>(values[r - kFirst]));
    }
  }
};

template <int kSweep, class Epilogue>
SOLSTICE_DEVICE void find_in_line(const Epilogue& epilogue, float* line, int batch, int m, int lane,
                                  double (&results)[Epilogue::kResults]) {
  if constexpr (kSweep < Epilogue::kSweeps) {
    using Finder = LineFinder<kSweep, Epilogue>;
    double found[Finder::kLast - Finder::kFirst];
#pragma unroll
    for (int r = Finder::kFirst; r < Finder::kLast; ++r)
      found[r - Finder::kFirst] = Epilogue::template start<double>(r);
    epilogue.template walk<kSweep>(batch, m, results, Finder{line, lane, found});
#pragma unroll
    for (int r = Finder::kFirst; r < Finder::kLast; ++r)
      results[r] = solstice::epilogue::over_lanes<32, Epilogue>(r, found[r - Finder::kFirst]);
    find_in_line<kSweep + 1>(epilogue, line, batch, m, lane, results);
  }
}

template <class Epilogue>
struct LineWriter {
  const Epilogue& epilogue;
  float* line;
  int batch, m, lane;

  template <class Load, class Element>
  SOLSTICE_DEVICE void operator()(const Load& load, const Element& element) const {
#pragma unroll 1
    for (int n = lane; n < Epilogue::kColumns; n += 32) {
      float values[Epilogue::kValues];
      element(line[n], load(n), n, values);
      simt_store(epilogue, batch, m, n, values);
    }
  }
};

// The body of a kernel like that of run_simt. `sums`: 128 x columns floats for every block.
template <mma::Major kMajorA, mma::Major kMajorB, int kVectorA, int kVectorB, typename TA, typename TB, class Epilogue>
SOLSTICE_DEVICE void run_simt_rows(const StridedOperand<TA>& a, const StridedOperand<TB>& b, const SimtProblem& p,
                                   const Epilogue& epilogue, float* sums) {
  float* const own = sums + static_cast<i64>(blockIdx.x) * kSimtTile * p.n;
  const int blocks = ceil_div(p.m, kSimtTile), lane = static_cast<int>(threadIdx.x) % 32;
  for (int t = blockIdx.x; t < blocks * p.batches; t += gridDim.x) {
    const int batch = t / blocks, m0 = (t - batch * blocks) * kSimtTile, rows = smaller(kSimtTile, p.m - m0);
    const StridedOperand<TA> lines{a.data + batch * a.batch + m0 * a.line, 0, a.line, a.k};
    const StridedOperand<TB> columns{b.data + batch * b.batch, 0, b.line, b.k};
    run_simt<kMajorA, kMajorB, kVectorA, kVectorB>(lines, columns, SimtProblem{rows, p.n, p.k, 1, p.group},
                                                   SumsEpilogue{own, p.n}, {}, 0, 1);
    __syncthreads();
    for (int r = static_cast<int>(threadIdx.x) / 32; r < rows; r += kSimtThreads / 32) {
      float* const line = own + static_cast<i64>(r) * p.n;
      double results[Epilogue::kResults];
      find_in_line<0>(epilogue, line, batch, m0 + r, lane, results);
      epilogue.template walk<Epilogue::kSweeps>(batch, m0 + r, results,
                                                LineWriter<Epilogue>{epilogue, line, batch, m0 + r, lane});
      if constexpr (Epilogue::kStoresRows) {
        if (lane == 0) epilogue.store_row(batch, m0 + r, results);
      }
    }
    __syncthreads();
  }
}

}  // namespace solstice::gemm
