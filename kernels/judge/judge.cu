// The judge's kernels: they read a candidate's results beside the float64 oracle's and PyTorch's own, and look for
// bytes that changed where none may. Sums are per block and are added up on the host in a fixed order, so that a
// verdict repeats bit for bit. Plain CUDA without headers; src/run/judge_kernels.h holds the structs' twins.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

constexpr int kMaxRank = 8;
constexpr int kThreads = 256;

// A strided tensor; `dtype` counts as DType of src/base/dtype.h.
struct View {
  const void* data;
  i64 extents[kMaxRank];
  i64 strides[kMaxRank];  // elements
  int rank;
  int dtype;
  int dense;  // row-major without gaps
  int unused;
};

// How the elementwise scale is formed: rows of `row` elements in runs of `run`.
struct Rows {
  i64 row;
  i64 run;
  i64 runs_a_row;
};

struct Partial {
  double candidate_error2, reference_error2, norm2;  // sums of squares
  double candidate_max, reference_max;               // largest |x - o| / scale
  double got, expected;                              // at worst
  i64 worst;                                         // index of candidate_max, -1: none
  i64 class_mismatches, first_mismatch;              // NaN, +inf, -inf or finite in the wrong place
  i64 poison_left, unequal;
  i64 excused;   // elements that the inputs do not determine, within their room
  i64 left_out;  // numbers where neither the oracle nor PyTorch has one, since a mask's zeros met NaN or infinity
};

__device__ float half_to_float(u16 bits) {
  float out;
  asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(bits));
  return out;
}

// E4M3 (no infinity) and E5M2, by their definition.
__device__ float small_float(u8 bits, int mantissa_bits, int bias, bool has_infinity) {
  const int exponent_bits = 7 - mantissa_bits;
  const int exponent = (bits & 0x7f) >> mantissa_bits, mantissa = bits & ((1 << mantissa_bits) - 1);
  const int top = (1 << exponent_bits) - 1;
  const float sign = bits & 0x80 ? -1.0f : 1.0f;
  if (has_infinity && exponent == top) return mantissa ? __int_as_float(0x7fc00000) : sign * __int_as_float(0x7f800000);
  if (!has_infinity && (bits & 0x7f) == 0x7f) return __int_as_float(0x7fc00000);
  const float fraction = static_cast<float>(mantissa) / static_cast<float>(1 << mantissa_bits);
  return exponent == 0 ? sign * exp2f(static_cast<float>(1 - bias)) * fraction
                       : sign * exp2f(static_cast<float>(exponent - bias)) * (1.0f + fraction);
}

__device__ double load(const View& view, i64 at) {
  switch (view.dtype) {
    case 0:
      return static_cast<const double*>(view.data)[at];
    case 1:
      return static_cast<const float*>(view.data)[at];
    case 2:
      return half_to_float(static_cast<const u16*>(view.data)[at]);
    case 3:
      return __int_as_float(static_cast<int>(static_cast<u32>(static_cast<const u16*>(view.data)[at]) << 16));
    case 4:
      return small_float(static_cast<const u8*>(view.data)[at], 3, 7, false);
    case 5:
      return small_float(static_cast<const u8*>(view.data)[at], 2, 15, true);
    case 6:
      return static_cast<double>(static_cast<const i64*>(view.data)[at]);
    case 7:
      return static_cast<const int*>(view.data)[at];
    case 8:
      return static_cast<const short*>(view.data)[at];
    case 9:
      return static_cast<const signed char*>(view.data)[at];
    default:
      return static_cast<const u8*>(view.data)[at];
  }
}

__device__ int bytes_of(int dtype) {
  constexpr u8 kBytes[] = {8, 4, 2, 2, 1, 1, 8, 4, 2, 1, 1, 1};
  return kBytes[dtype];
}

__device__ i64 position(const View& view, i64 index) {
  if (view.dense) return index;
  i64 at = 0;
  for (int i = view.rank - 1; i >= 0; --i) {
    at += index % view.extents[i] * view.strides[i];
    index /= view.extents[i];
  }
  return at;
}

__device__ bool all_bytes(const View& view, i64 at, u8 value) {
  const int n = bytes_of(view.dtype);
  const u8* bytes = static_cast<const u8*>(view.data) + at * n;
  for (int i = 0; i < n; ++i) {
    if (bytes[i] != value) return false;
  }
  return true;
}

// 0 finite, 1 NaN, 2 +inf, 3 -inf
__device__ int class_of(double x) { return isnan(x) ? 1 : isinf(x) ? (x > 0 ? 2 : 3) : 0; }

__device__ void add(Partial& into, const Partial& other) {
  into.candidate_error2 += other.candidate_error2;
  into.reference_error2 += other.reference_error2;
  into.norm2 += other.norm2;
  into.reference_max = fmax(into.reference_max, other.reference_max);
  if (other.worst >= 0 && (into.worst < 0 || other.candidate_max > into.candidate_max)) {
    into.candidate_max = other.candidate_max;
    into.worst = other.worst;
    into.got = other.got;
    into.expected = other.expected;
  }
  into.class_mismatches += other.class_mismatches;
  if (other.first_mismatch >= 0 && (into.first_mismatch < 0 || other.first_mismatch < into.first_mismatch)) {
    into.first_mismatch = other.first_mismatch;
  }
  into.poison_left += other.poison_left;
  into.unequal += other.unequal;
  into.excused += other.excused;
  into.left_out += other.left_out;
}

// A thread reads this many elements of each tensor, kThreads apart, before it looks at the first: enough on their way
// to keep the memory busy. One element at a time reached 0.5 to 0.8 TB/s on an H200.
constexpr int kBatch = 4;
constexpr i64 kTile = kThreads * kBatch;

template <typename T>
__device__ void load_each(const View& view, const i64 (&at)[kBatch], double (&out)[kBatch]) {
  T values[kBatch];
#pragma unroll
  for (int i = 0; i < kBatch; ++i) values[i] = static_cast<const T*>(view.data)[at[i]];
#pragma unroll
  for (int i = 0; i < kBatch; ++i) out[i] = values[i];
}

// Elements `first`, `first` + kThreads ..., none beyond `last`.
__device__ void load_batch(const View& view, i64 first, i64 last, double (&out)[kBatch]) {
  i64 at[kBatch];
#pragma unroll
  for (int i = 0; i < kBatch; ++i) {
    const i64 index = first + i * kThreads;
    at[i] = position(view, index < last ? index : last);
  }
  if (view.dtype == 1) return load_each<float>(view, at, out);
  if (view.dtype == 0) return load_each<double>(view, at, out);
#pragma unroll
  for (int i = 0; i < kBatch; ++i) out[i] = load(view, at[i]);
}

// The sum over a block's threads, in a fixed order; every thread must call it, and gets it.
__device__ double block_sum(double value) {
  __shared__ double shared[kThreads];
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) shared[threadIdx.x] += shared[threadIdx.x + step];
    __syncthreads();
  }
  const double sum = shared[0];
  __syncthreads();
  return sum;
}

// Root mean square of the oracle's finite values in each run, negative (-0.0 too) where 7 of 8 of them are zero: what
// was clamped to zero there says nothing of the size, hence of the rounding errors, of what was not. One block a run at
// a time.
extern "C" __global__ void judge_run_rms(View oracle, Rows rows, i64 elements, double* out) {
  const i64 runs = elements / rows.row * rows.runs_a_row;
  for (i64 run = blockIdx.x; run < runs; run += gridDim.x) {
    const i64 begin = run / rows.runs_a_row * rows.row + run % rows.runs_a_row * rows.run;
    const i64 row_end = (run / rows.runs_a_row + 1) * rows.row;
    const i64 end = begin + rows.run < row_end ? begin + rows.run : row_end;
    double sum = 0, count = 0, zeros = 0;
    for (i64 i = begin + threadIdx.x; i < end; i += kTile) {
      double o[kBatch];
      load_batch(oracle, i, end - 1, o);
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        if (i + k * kThreads < end && class_of(o[k]) == 0) {
          sum += o[k] * o[k];
          count += 1;
          zeros += o[k] == 0;
        }
      }
    }
    sum = block_sum(sum);
    count = block_sum(count);
    zeros = block_sum(zeros);
    const double rms = count > 0 ? sqrt(sum / count) : 0.0;
    if (threadIdx.x == 0) out[run] = 8 * zeros >= 7 * count ? -rms : rms;
  }
}

// Of the runs' mean squares, a sum a block.
extern "C" __global__ void judge_sum_runs(const double* run_rms, i64 runs, double* out) {
  double sum = 0;
  for (i64 i = static_cast<i64>(blockIdx.x) * kThreads + threadIdx.x; i < runs;
       i += static_cast<i64>(gridDim.x) * kThreads) {
    sum += run_rms[i] * run_rms[i];
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// Runs that are marked get the root mean square over all runs. `sums`: what judge_sum_runs left in `count` blocks.
extern "C" __global__ void judge_fill_runs(double* run_rms, i64 runs, const double* sums, int count) {
  double sum = 0;
  for (int i = threadIdx.x; i < count; i += kThreads) sum += sums[i];
  const double all = sqrt(block_sum(sum) / static_cast<double>(runs));
  for (i64 i = static_cast<i64>(blockIdx.x) * kThreads + threadIdx.x; i < runs;
       i += static_cast<i64>(gridDim.x) * kThreads) {
    if (signbit(run_rms[i])) run_rms[i] = all;
  }
}

// The runs' scales for one tile after another; divides once a tile, and for each element only where a tile has several.
struct Scales {
  const Rows& rows;
  const double* run_rms;
  bool one_run = false;
  double rms = 0;

  __device__ i64 run_of(i64 index) const { return index / rows.row * rows.runs_a_row + index % rows.row / rows.run; }
  __device__ void enter(i64 begin) {
    const i64 row = begin / rows.row, in_row = begin - row * rows.row;
    const i64 run = in_row / rows.run, end = (run + 1) * rows.run < rows.row ? (run + 1) * rows.run : rows.row;
    one_run = in_row + kTile <= end;
    rms = run_rms[row * rows.runs_a_row + run];
  }
  __device__ double at(i64 index) const { return one_run ? rms : run_rms[run_of(index)]; }
};

// Integers of 64 bits are compared as they are: a double holds 53 of them.
__device__ bool same(double x, double p, const View& candidate, const View& expected, i64 index) {
  constexpr int kI64 = 6;
  if (candidate.dtype != kI64 || expected.dtype != kI64) return x == p || (isnan(x) && isnan(p));
  return static_cast<const i64*>(candidate.data)[position(candidate, index)] ==
         static_cast<const i64*>(expected.data)[position(expected, index)];
}

// One element: x of the candidate, o of the oracle, p of PyTorch (o where there is none). `merged`: what is not finite
// is one class. `room`: how far x may lie from o where the inputs do not determine it, negative where they do;
// PyTorch's error is of those that are determined. `finite`: what o is for finite inputs where it does not depend on
// those that are not, else NaN.
__device__ void compare_one(const View& candidate, const View& expected, double x, double o, double p,
                            bool has_reference, double scale_rms, double floor, u8 poison, bool merged, float room,
                            double finite, i64 index, Partial& mine) {
  if (class_of(finite) == 0 && class_of(x) == 0 && class_of(o) != 0) {
    o = finite;
    if (class_of(p) != 0) ++mine.left_out;
  }
  const int class_x = class_of(x), class_o = class_of(o), class_p = class_of(p);
  const double scale = fmax(fmax(fabs(o), scale_rms), floor);
  const bool right_class =
      class_x == class_o || class_x == class_p || (merged && class_x != 0 && (class_o != 0 || class_p != 0));
  if (!right_class) {
    ++mine.class_mismatches;
    if (mine.first_mismatch < 0) mine.first_mismatch = index;
  }
  if (!same(x, p, candidate, expected, index)) {
    ++mine.unequal;
    if (all_bytes(candidate, position(candidate, index), poison)) ++mine.poison_left;
  }
  if (class_o != 0) return;
  mine.norm2 += o * o;
  // Quotients are formed only where they would be a new largest: divisions in fp64 cost more than all the rest.
  if (class_p == 0 && has_reference && !(room >= 0)) {
    const double error = fabs(p - o);
    mine.reference_error2 += error * error;
    if (error > mine.reference_max * scale) mine.reference_max = fmax(mine.reference_max, error / scale);
  }
  if (class_x != 0) return;
  const double error = fabs(x - o);
  if (error <= room) {
    ++mine.excused;
    return;
  }
  mine.candidate_error2 += error * error;
  if (mine.worst >= 0 && error <= mine.candidate_max * scale) return;
  if (mine.worst < 0 || error / scale > mine.candidate_max) {
    mine.candidate_max = error / scale;
    mine.worst = index;
    mine.got = x;
    mine.expected = o;
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    judge_compare(View candidate, View oracle, View reference, View rooms, View finites, Rows rows,
                  const double* run_rms, i64 elements, double floor, u32 poison, u32 merged, Partial* out) {
  __shared__ Partial shared[kThreads];
  Partial mine = {0, 0, 0, 0, 0, 0, 0, -1, 0, -1, 0, 0, 0, 0};
  const bool has_reference = reference.data != nullptr;
  Scales scales = {rows, run_rms};
  for (i64 tile = blockIdx.x; tile * kTile < elements; tile += gridDim.x) {
    const i64 first = tile * kTile + threadIdx.x;
    double x[kBatch], o[kBatch], p[kBatch];
    load_batch(candidate, first, elements - 1, x);
    load_batch(oracle, first, elements - 1, o);
    if (has_reference) load_batch(reference, first, elements - 1, p);
    scales.enter(tile * kTile);
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const i64 index = first + i * kThreads;
      if (index >= elements) break;
      const float room = rooms.data != nullptr ? static_cast<const float*>(rooms.data)[position(rooms, index)] : -1.0f;
      const double finite = finites.data != nullptr ? load(finites, position(finites, index)) : nan("");
      compare_one(candidate, has_reference ? reference : oracle, x[i], o[i], has_reference ? p[i] : o[i], has_reference,
                  scales.at(index), floor, static_cast<u8>(poison), merged != 0, room, finite, index, mine);
    }
  }
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) add(shared[threadIdx.x], shared[threadIdx.x + step]);
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = shared[0];
}

// out[0]: how many bytes differ; out[1]: the first of them (the caller sets it to ~0).
extern "C" __global__ void judge_bytes_differ(const u8* a, const u8* b, i64 bytes, u64* out) {
  const i64 stride = static_cast<i64>(gridDim.x) * blockDim.x,
            thread = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
  const bool wide = (reinterpret_cast<u64>(a) | reinterpret_cast<u64>(b)) % 16 == 0;
  const i64 chunks = wide ? bytes / 16 : 0;
  u64 count = 0, first = ~0ull;
  const auto look = [&](i64 at) {
    if (a[at] == b[at]) return;
    ++count;
    if (static_cast<u64>(at) < first) first = at;
  };
  for (i64 i = thread; i < chunks; i += stride) {
    const uint4 x = reinterpret_cast<const uint4*>(a)[i], y = reinterpret_cast<const uint4*>(b)[i];
    if (x.x == y.x && x.y == y.y && x.z == y.z && x.w == y.w) continue;
    for (i64 at = 16 * i; at < 16 * i + 16; ++at) look(at);
  }
  for (i64 at = 16 * chunks + thread; at < bytes; at += stride) look(at);
  if (count == 0) return;
  atomicAdd(&out[0], count);
  atomicMin(&out[1], first);
}

struct Range {
  i64 offset;
  i64 bytes;
};

// The same for ranges of an arena that should hold one value; `out[1]` is an offset into the arena.
extern "C" __global__ void judge_ranges_differ(const u8* arena, const Range* ranges, int count, u32 value, u64* out) {
  for (int r = blockIdx.y; r < count; r += gridDim.y) {
    const Range range = ranges[r];
    for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < range.bytes;
         i += static_cast<i64>(gridDim.x) * blockDim.x) {
      if (arena[range.offset + i] == value) continue;
      atomicAdd(&out[0], 1ull);
      atomicMin(&out[1], static_cast<u64>(range.offset + i));
    }
  }
}
