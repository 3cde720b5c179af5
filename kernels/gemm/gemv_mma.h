// The product with up to 16 lines of one operand, both of one 16-bit format: a stream through the other operand, each
// of its elements read once, 16 bytes a lane, straight into fragments of mma.sync. One launch; sums stay in fp32, and
// warps and blocks add theirs up in a fixed order (gemv.h).
//
// Which k an instruction's places stand for is free as long as both operands agree: so a lane's 16 bytes are fragments
// as they lie.
// - kK (k contiguous): a slab is 32 lines x 64 k. Lane 4g + t has k 8t .. 8t+7 and 8t+32 .. 8t+39 of lines g, g + 8, ..
// - kMN (lines contiguous): a slab is 64 lines x 16 k. Lane 4g + t has lines 8g .. 8g+7 of k 4t .. 4t+3, whose
//   neighbours along k it joins: an instruction takes lines 8g + i and 8g + i + 4.
//
// A block takes the lines of a slab; its warps, and the blocks of its cluster, take turns at slabs along k. Every
// thread has kAhead slabs of its own on their way in registers.
#pragma once

#include "gemm/gemv.h"

// part: main loop

namespace solstice::gemm {

// Both operands lie as vectors of 8: base, lines, batches and the streamed operand's extent along them are multiples
// of 8. kVectorHeld: neighbouring k of the held operand that a lane may take at once, 8 or 1. kTiles: of 16 lines each
// in a slab, 4 of kMN. kBlocks: of an SM, as its registers allow.
template <class Side_, class T_, mma::Major kMajor_, int kVectorHeld_, int kHeld_, int kCluster_, int kTiles_,
          int kAhead_, int kWarps_, int kBlocks_>
struct GemvMmaConfig {
  using Side = Side_;
  using T = T_;
  static constexpr mma::Major kMajor = kMajor_;
  static constexpr bool kByK = kMajor == mma::Major::kK;
  static constexpr int kVectorHeld = kVectorHeld_, kHeld = kHeld_, kCluster = kCluster_, kAhead = kAhead_,
                       kWarps = kWarps_, kBlocks = kBlocks_;
  static constexpr int kTiles = kTiles_,
                       kColumns = ceil_div(kHeld, 8);  // instructions: 16 lines each, 8 held ones each
  static constexpr int kLines = 16 * kTiles, kSlabK = kByK ? 64 : 16;
  static constexpr int kVectors = kByK ? 4 * kTiles : 4;  // of a slab in a lane
  static constexpr int kTurns = kWarps * kCluster, kThreads = 32 * kWarps;
  static constexpr int kSums = kLines * kHeld;
  static_assert(kByK || kTiles == 4);
  static constexpr int kSharedBytes = kWarps * kSums * 4;
};

// Of k: a slab whose end is not the operand's, or the last one, which ends within.
enum class Slab { kWhole, kPart };

// d += a * b: 16 lines x 16 k by 16 k x 8.
template <class T>
SOLSTICE_DEVICE void mma_held(float (&d)[4], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
  if constexpr (kSame<T, Half>)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// Bytes that nobody reads again.
SOLSTICE_DEVICE void load_once(u32 (&v)[4], const void* p) {
  asm volatile("ld.global.nc.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
               : "l"(p));
}
SOLSTICE_DEVICE u32 join_low(u32 a, u32 b) { return __byte_perm(a, b, 0x5410); }
SOLSTICE_DEVICE u32 join_high(u32 a, u32 b) { return __byte_perm(a, b, 0x7632); }

template <class Config>
struct GemvMma {
  using T = typename Config::T;
  static constexpr int kSlabK = Config::kSlabK, kColumns = Config::kColumns, kVectors = Config::kVectors;
  static constexpr int kLineCount = Config::kByK ? 2 * Config::kTiles : 1;
  const T* x;               // of this lane, in its next slab
  i64 k;                    // stride of x
  i64 lines[kLineCount];    // kK: to each of the lane's lines
  const T* held[kColumns];  // the same, of its lines
  i64 held_k;
  int own_k, extent;
  float sums[Config::kTiles][kColumns][4] = {};

  SOLSTICE_DEVICE GemvMma(const StridedOperand<T>& x_, const StridedOperand<T>& held_, const GemvProblem& p, int batch,
                          int line0, int slab)
      : k(x_.k), held_k(held_.k), extent(p.k) {
    const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
    own_k = slab * kSlabK + (Config::kByK ? 8 : 4) * t;
    // Lines beyond the operand are read as its last ones, and nobody stores their sums.
    x = x_.data + batch * x_.batch + own_k * k;
    if constexpr (Config::kByK) {
#pragma unroll
      for (int i = 0; i < kLineCount; ++i) lines[i] = smaller(line0 + g + 8 * i, p.lines - 1) * x_.line;
    } else {
      x += smaller(line0 + 8 * g, p.lines - 8) * x_.line;
    }
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
      held[j] = held_.data + batch * held_.batch + smaller(8 * j + g, Config::kHeld - 1) * held_.line + own_k * held_k;
  }

  // The place of vector i of the slab at `from`, and its first k.
  SOLSTICE_DEVICE const T* vector(const T* from, int i) const {
    if constexpr (Config::kByK)
      return from + lines[i % kLineCount] + k_of(i);
    else
      return from + k_of(i) * k;
  }
  SOLSTICE_DEVICE static int k_of(int i) { return Config::kByK ? i / kLineCount * 32 : i; }
  // This lane's vectors of the slab `turn` turns ahead.
  SOLSTICE_DEVICE void load(u32 (&v)[kVectors][4], int turn) const {
    const T* from = x + turn * Config::kTurns * kSlabK * (Config::kByK ? 1 : k);
#pragma unroll
    for (int i = 0; i < kVectors; ++i) load_once(v[i], vector(from, i));
  }
  // The same of the last slab, which ends within: zeros behind the extent.
  SOLSTICE_DEVICE void load_part(u32 (&v)[kVectors][4]) const {
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      v[i][0] = v[i][1] = v[i][2] = v[i][3] = 0;
      if (own_k + k_of(i) < extent) load_once(v[i], vector(x, i));
    }
  }

  // Pairs of k of this lane's held line in eight `j`, from `at` k further on.
  template <Slab kSlab, int kWords>
  SOLSTICE_DEVICE void take(u32 (&v)[kWords], int j, int at) const {
    const T* from = held[j] + at * held_k;
    const int left = kSlab == Slab::kPart ? extent - own_k - at : 2 * kWords;
    if (Config::kVectorHeld == 8 && left >= 2 * kWords) {
      if constexpr (kWords == 4) {
        const uint4 w = *reinterpret_cast<const uint4*>(from);
        v[0] = w.x, v[1] = w.y, v[2] = w.z, v[3] = w.w;
      } else {
        const uint2 w = *reinterpret_cast<const uint2*>(from);
        v[0] = w.x, v[1] = w.y;
      }
      return;
    }
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const u32 low = 2 * i < left ? from[2 * i * held_k].bits : 0,
                high = 2 * i + 1 < left ? from[(2 * i + 1) * held_k].bits : 0;
      v[i] = low | high << 16;
    }
  }

  // Of the slab `turn` turns ahead.
  template <Slab kSlab>
  SOLSTICE_DEVICE void multiply(const u32 (&v)[kVectors][4], int turn) {
    const int at = turn * Config::kTurns * kSlabK;
    if constexpr (Config::kByK) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
          u32 b[4];
          take<kSlab>(b, j, at + 32 * half);
#pragma unroll
          for (int i = 0; i < Config::kTiles; ++i) {
            const u32(&low)[4] = v[half * kLineCount + 2 * i], (&high)[4] = v[half * kLineCount + 2 * i + 1];
            mma_held<T>(sums[i][j], low[0], high[0], low[1], high[1], b[0], b[1]);
            mma_held<T>(sums[i][j], low[2], high[2], low[3], high[3], b[2], b[3]);
          }
        }
      }
    } else {
      u32 b[kColumns][2];
#pragma unroll
      for (int j = 0; j < kColumns; ++j) take<kSlab>(b[j], j, at);
#pragma unroll
      for (int i = 0; i < 4; ++i) {  // lines i and i + 4 of the lane's eight
        u32 a[4];
#pragma unroll
        for (int h = 0; h < 2; ++h) {
#pragma unroll
          for (int q = 0; q < 2; ++q) {
            const u32 first = v[2 * q][i / 2 + 2 * h], second = v[2 * q + 1][i / 2 + 2 * h];
            a[h + 2 * q] = i % 2 ? join_high(first, second) : join_low(first, second);
          }
        }
#pragma unroll
        for (int j = 0; j < kColumns; ++j) mma_held<T>(sums[i][j], a[0], a[1], a[2], a[3], b[j][0], b[j][1]);
      }
    }
  }

  SOLSTICE_DEVICE void step(int turns) {
    const int by = turns * Config::kTurns * kSlabK;
    x += by * (Config::kByK ? 1 : k);
#pragma unroll
    for (int j = 0; j < kColumns; ++j) held[j] += by * held_k;
    own_k += by;
  }

  // Every kTurns-th slab from the one it was made for.
  SOLSTICE_DEVICE void walk(int first) {
    const int slabs = extent / kSlabK;
    int left = ceil_div(slabs - first, Config::kTurns);  // whole slabs of this warp
    u32 v[Config::kAhead][kVectors][4];
#pragma unroll
    for (int i = 0; i < Config::kAhead; ++i) {
      if (i < left) load(v[i], i);
    }
    for (; left >= Config::kAhead; left -= Config::kAhead) {
#pragma unroll
      for (int i = 0; i < Config::kAhead; ++i) {
        multiply<Slab::kWhole>(v[i], i);
        if (i + Config::kAhead < left) load(v[i], i + Config::kAhead);
      }
      step(Config::kAhead);
    }
#pragma unroll
    for (int i = 0; i < Config::kAhead - 1; ++i) {
      if (i < left) multiply<Slab::kWhole>(v[i], i);
    }
    if (extent % kSlabK != 0 && slabs % Config::kTurns == first) {
      step(larger(left, 0));
      load_part(v[0]);
      multiply<Slab::kPart>(v[0], 0);
    }
  }

  // sums[line * kHeld + held] of this warp.
  SOLSTICE_DEVICE void leave(float* shared) const {
    const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
#pragma unroll
    for (int i = 0; i < Config::kTiles; ++i) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int own = Config::kByK ? 16 * i + g + e / 2 * 8 : 8 * g + i + e / 2 * 4, other = 8 * j + 2 * t + e % 2;
          if (other < Config::kHeld) shared[own * Config::kHeld + other] = sums[i][j][e];
        }
      }
    }
  }
};

// The body of a kernel launched with Config::kThreads threads, Config::kSharedBytes of dynamic shared memory, and a
// cluster of Config::kCluster blocks for each of batches x ceil(lines / Config::kLines).
template <class Config, class Epilogue>
SOLSTICE_DEVICE void run_gemv_mma(const StridedOperand<typename Config::T>& x,
                                  const StridedOperand<typename Config::T>& held, const GemvProblem& p,
                                  const Epilogue& epilogue) {
  float* shared = reinterpret_cast<float*>(ptx::dynamic_shared());
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const u32 rank = Config::kCluster > 1 ? ptx::cluster_rank() : 0;
  const int tile = static_cast<int>(blockIdx.x) / Config::kCluster, tiles = ceil_div(p.lines, Config::kLines);
  const int batch = tile / tiles, line0 = tile % tiles * Config::kLines;
  const int turn = static_cast<int>(rank) * Config::kWarps + warp;
  GemvMma<Config> product(x, held, p, batch, line0, turn);
  product.walk(turn);
  product.leave(shared + warp * Config::kSums);
  gemv_finish<Config>(shared, p, batch, line0, rank, epilogue);
}

}  // namespace solstice::gemm
