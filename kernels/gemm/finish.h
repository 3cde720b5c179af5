// The second step of split-K: adds the partial sums (epilogue/split_k.h) in a fixed order and runs the epilogue. Free
// of PTX.
//
// kWays: groups of threads that share the splits of an element, for many splits of few elements; kVector: elements of
// a row a thread takes (n is a multiple).
#pragma once

#include "epilogue/split_k.h"
#include "gemm/simt.h"

// part: fold

namespace solstice::gemm {

// The body of a kernel of kSimtThreads threads with kSimtSharedBytes of dynamic shared memory.
template <int kSplits, int kWays, int kVector, class Epilogue>
SOLSTICE_DEVICE void run_finish(const float* partial, const SimtProblem& p, const Epilogue& epilogue) {
  constexpr int kLanes = kSimtThreads / kWays, kPerWay = (kSplits + kWays - 1) / kWays;
  float* shared = reinterpret_cast<float*>(ptx::dynamic_shared());
  const int way = static_cast<int>(threadIdx.x) / kLanes, lane = static_cast<int>(threadIdx.x) % kLanes;
  const i64 total = epilogue::PartialSums<const float>{partial, p.batches, p.m, p.n}.count();
  for (i64 first = static_cast<i64>(blockIdx.x) * kLanes * kVector; first < total;
       first += static_cast<i64>(gridDim.x) * kLanes * kVector) {
    const i64 at = first + lane * kVector;
    float v[kVector] = {};
    if (at < total) {
#pragma unroll 16
      for (int s = 0; s < kPerWay; ++s) {
        if (kPerWay * kWays == kSplits || way * kPerWay + s < kSplits)
          epilogue::add_partial(v, partial + (way * kPerWay + s) * total + at);
      }
    }
    if constexpr (kWays > 1) {
      __syncthreads();
#pragma unroll
      for (int j = 0; j < kVector; ++j) shared[(way * kVector + j) * kLanes + lane] = v[j];
      __syncthreads();
#pragma unroll
      for (int w = 1; w < kWays; ++w) {
#pragma unroll
        for (int j = 0; j < kVector; ++j) v[j] += shared[(w * kVector + j) * kLanes + lane];
      }
    }
    if (way != 0 || at >= total) continue;
    const int row = static_cast<int>(at / p.n), n = static_cast<int>(at - static_cast<i64>(row) * p.n);
    const int batch = row / p.m, m = row - batch * p.m;
#pragma unroll
    for (int j = 0; j < kVector; ++j) {
      float values[Epilogue::kOutputs];
      epilogue.compute(v[j], epilogue.load(batch, m, n + j), batch, m, n + j, values);  // part: epilogue
      simt_store(epilogue, batch, m, n + j, values);
    }
  }
}

}  // namespace solstice::gemm
