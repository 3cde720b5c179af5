// The product with a handful of rows (or columns) of one operand, in fp32: a stream through the other operand, each
// element read once and multiplied kHeld times. Inf and NaN come out as fp32 has them; sums are short (runs of 128
// terms of a lane's share of k, then lanes, runs, warps and blocks in a fixed order), so their error is far below that
// of one long sum.
//
// kK (k contiguous): a block takes kGemvLines lines; its warps take turns at slabs of 128 k.
// kMN (lines contiguous): a block takes 32 x kVector lines, each lane its own; its warps take turns at runs of k.
// Blocks of a cluster take turns likewise and exchange their sums through distributed shared memory.
#pragma once

#include "epilogue/output.h"
#include "gemm/simt.h"
#include "gemm/streams.h"
#include "ptx/memory.h"

// part: main loop

namespace solstice::gemm {

inline constexpr int kGemvThreads = 256;
inline constexpr int kGemvWarps = kGemvThreads / 32;
inline constexpr int kGemvLines = 8;
inline constexpr int kGemvStep = 8;   // k of a kMN step
inline constexpr int kGemvRun = 128;  // terms that a lane adds one after the other

// kVector, kVectorHeld: neighbours of the streamed operand, and neighbouring k of the held one, that a lane may take at
// once: 4 or 1. kHeld: lines of the held operand.
template <class Side_, mma::Major kMajor_, int kVector_, int kVectorHeld_, int kHeld_, int kCluster_>
struct GemvConfig {
  using Side = Side_;
  static constexpr mma::Major kMajor = kMajor_;
  static constexpr int kVector = kVector_, kVectorHeld = kVectorHeld_, kHeld = kHeld_, kCluster = kCluster_;
  static constexpr bool kByK = kMajor == mma::Major::kK;
  static constexpr int kLines = kByK ? kGemvLines : 32 * kVector;
  static constexpr int kBlocks = 2, kThreads = kGemvThreads, kWarps = kGemvWarps, kSums = kLines * kHeld;
  static constexpr int kSharedBytes = kGemvWarps * kSums * 4;
};

struct GemvProblem {
  int lines, k, batches;
};

// v[j] = x[at(j)] where it exists. kAt: distance between them in elements.
template <int kVector, typename T>
SOLSTICE_DEVICE void gemv_load(float (&v)[4], const T* from, i64 distance, int valid) {
  if constexpr (kVector == 4 && kSame<T, float>) {
    if (valid >= 4) {
      const float4 w = *reinterpret_cast<const float4*>(from);
      v[0] = w.x, v[1] = w.y, v[2] = w.z, v[3] = w.w;
      return;
    }
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) v[j] = j < valid ? to_float(from[j * distance]) : 0.f;
}

// Sums of one run of a warp's slabs, from `first` on: sums[line * kHeld + held], in every lane its own share.
template <class Config, class X, class Held>
SOLSTICE_DEVICE void gemv_by_k(float (&sums)[Config::kSums], const X& x, const Held& held, const GemvProblem& p,
                               int line0, int first) {
  constexpr int kTurns = kGemvWarps * Config::kCluster;
  const int last = smaller(ceil_div(p.k, 128), first + kGemvRun / 4 * kTurns);
  // With kVector 1 a lane's four elements lie 32 apart, so that a warp reads 128 contiguous bytes at a time.
  constexpr int kStep = Config::kVector == 4 ? 1 : 32;
  const int lane = threadIdx.x % 32;
  for (int slab = first; slab < last; slab += kTurns) {
    const int k = slab * 128 + lane * (Config::kVector == 4 ? 4 : 1);
    const int valid = larger(0, smaller(4, ceil_div(p.k - k, kStep)));
    float v[kGemvLines][4], h[4];
#pragma unroll
    for (int i = 0; i < kGemvLines; ++i) {
      const int line = smaller(line0 + i, p.lines - 1);
      gemv_load<Config::kVector>(v[i], x.data + line * x.line + k, kStep, valid);
    }
#pragma unroll
    for (int j = 0; j < Config::kHeld; ++j) {
      gemv_load<smaller(Config::kVectorHeld, Config::kVector)>(h, held.data + j * held.line + k * held.k,
                                                               kStep * held.k, valid);
#pragma unroll
      for (int i = 0; i < kGemvLines; ++i) {
#pragma unroll
        for (int e = 0; e < 4; ++e) sums[i * Config::kHeld + j] = fmaf(v[i][e], h[e], sums[i * Config::kHeld + j]);
      }
    }
  }
}

// Sums of one run of a lane's own lines, from k `first` on: sums[line * kHeld + held].
template <class Config, class X, class Held>
SOLSTICE_DEVICE void gemv_by_line(float (&sums)[Config::kVector * Config::kHeld], const X& x, const Held& held,
                                  const GemvProblem& p, int line, int first) {
  constexpr int kTurns = kGemvWarps * Config::kCluster;
  const int last = smaller(p.k, first + kGemvRun * kTurns);
  const int valid = larger(0, smaller(Config::kVector, p.lines - line));
  for (int k0 = first; k0 < last; k0 += kTurns * kGemvStep) {
    float v[kGemvStep][4];
#pragma unroll
    for (int i = 0; i < kGemvStep; ++i)
      gemv_load<Config::kVector>(v[i], x.data + (k0 + i) * x.k + line, 1, k0 + i < p.k ? valid : 0);
#pragma unroll
    for (int j = 0; j < Config::kHeld; ++j) {
#pragma unroll
      for (int i = 0; i < kGemvStep; ++i) {
        const float h = k0 + i < p.k ? to_float(held.data[j * held.line + (k0 + i) * held.k]) : 0.f;
#pragma unroll
        for (int e = 0; e < Config::kVector; ++e)
          sums[e * Config::kHeld + j] = fmaf(v[i][e], h, sums[e * Config::kHeld + j]);
      }
    }
  }
}

// part: epilogue

// Adds the warps' (and the cluster's) sums in order and runs the epilogue.
template <class Config, class Epilogue>
SOLSTICE_DEVICE void gemv_finish(const float* shared, const GemvProblem& p, int batch, int line0, u32 rank,
                                 const Epilogue& epilogue) {
  if constexpr (Config::kCluster > 1)
    ptx::cluster_sync();
  else
    __syncthreads();
  const u32 base = ptx::shared_address(shared);
  for (int i = threadIdx.x + rank * 32 * Config::kWarps; i < Config::kSums;
       i += 32 * Config::kWarps * Config::kCluster) {
    float sum = 0;
#pragma unroll
    for (int r = 0; r < Config::kCluster; ++r) {
#pragma unroll
      for (int w = 0; w < Config::kWarps; ++w) {
        const int at = w * Config::kSums + i;
        if constexpr (Config::kCluster > 1)
          sum += ptx::from_bits(ptx::load_remote_u32(base + 4 * at, r));
        else
          sum += shared[at];
      }
    }
    const int line = line0 + i / Config::kHeld, other = i % Config::kHeld;
    const int m = Config::Side::m(line, other), n = Config::Side::n(line, other);
    if (line >= p.lines) continue;
    float values[Epilogue::kOutputs];
    epilogue.compute(sum, epilogue.load(batch, m, n), batch, m, n, values);
    simt_store(epilogue, batch, m, n, values);
  }
  if constexpr (Config::kCluster > 1) {
    ptx::sync_warp();
    ptx::cluster_sync();  // no block ends while another reads its sums
  }
}

// part: main loop

// The body of a kernel launched with kGemvThreads threads, Config::kSharedBytes of dynamic shared memory, and a
// cluster of Config::kCluster blocks for each of batches x ceil(lines / Config::kLines).
template <class Config, class X, class Held, class Epilogue>
SOLSTICE_DEVICE void run_gemv(X x, Held held, const GemvProblem& p, const Epilogue& epilogue) {
  float* shared = reinterpret_cast<float*>(ptx::dynamic_shared());
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const u32 rank = Config::kCluster > 1 ? ptx::cluster_rank() : 0;
  const int tile = static_cast<int>(blockIdx.x) / Config::kCluster, tiles = ceil_div(p.lines, Config::kLines);
  const int batch = tile / tiles, line0 = tile % tiles * Config::kLines;
  const int turn = static_cast<int>(rank) * kGemvWarps + warp;
  x.data += batch * x.batch;
  held.data += batch * held.batch;
  float* mine = shared + warp * Config::kSums;
  constexpr int kTurns = kGemvWarps * Config::kCluster;
  if constexpr (Config::kByK) {
    int slab = turn;
    do {
      float sums[Config::kSums] = {};
      gemv_by_k<Config>(sums, x, held, p, line0, slab);
#pragma unroll
      for (int i = 0; i < Config::kSums; ++i) {
#pragma unroll
        for (int d = 16; d > 0; d /= 2) sums[i] += __shfl_xor_sync(~0u, sums[i], d);
        if (lane == i % 32) mine[i] = slab == turn ? sums[i] : mine[i] + sums[i];
      }
      slab += kGemvRun / 4 * kTurns;
    } while (slab * 128 < p.k);
  } else {
    constexpr int kOwn = Config::kVector * Config::kHeld;
    int k0 = turn * kGemvStep;
    do {
      float sums[kOwn] = {};
      gemv_by_line<Config>(sums, x, held, p, line0 + lane * Config::kVector, k0);
#pragma unroll
      for (int i = 0; i < kOwn; ++i)
        mine[lane * kOwn + i] = k0 == turn * kGemvStep ? sums[i] : mine[lane * kOwn + i] + sums[i];
      k0 += kGemvRun * kTurns;
    } while (k0 < p.k);
  }
  gemv_finish<Config>(shared, p, batch, line0, rank, epilogue);
}

}  // namespace solstice::gemm
