// One GEMM of the bench: its operands, inputs by distribution, the float64 oracle on sampled rows, cuBLAS.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "bench/gemm/device.h"
#include "mma/descriptor.h"

using solstice::mma::Major;

enum class Values { kNormal, kUniform, kRelu, kLognormal, kOutlier12, kOutlier20, kSpecial, kZeros, kSubnormal, kHuge };
inline const char* const kValueNames[] = {"normal",    "uniform", "relu",  "lognormal", "outlier12",
                                          "outlier20", "special", "zeros", "subnormal", "huge"};

struct Case {
  int m, n, k, batches;
  Major a, b;
  Values values;
  bool gelu = false;  // bias along n and exact GELU
  int pad = 0;        // extra elements in each line, so that lines are not aligned
};

inline __host__ __device__ unsigned hash32(unsigned long long x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return static_cast<unsigned>(x ^ (x >> 31));
}

// Operand element (line, k); lines are rows of A or columns of B.
static __global__ void fill(float* x, Case c, bool is_a, long long line_stride, long long k_stride,
                            long long batch_stride, int lines, unsigned seed) {
  const long long total = 1ll * lines * c.k * c.batches;
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < total; i += gridDim.x * 256ll) {
    const int batch = static_cast<int>(i / (1ll * lines * c.k)), line = static_cast<int>(i / c.k % lines),
              k = static_cast<int>(i % c.k);
    const float u = (hash32(i * 2 + seed * 0x10001ull) + 1.f) * 2.3283064e-10f;
    const float w = hash32(i * 2 + 1 + seed * 0x10001ull) * 2.3283064e-10f;
    const float g = sqrtf(-2.f * logf(u)) * cospif(2.f * w);
    float v = g;
    switch (c.values) {
      case Values::kUniform:
        v = w;
        break;
      case Values::kRelu:
        v = is_a ? fmaxf(g, 0.f) : g;
        break;
      case Values::kLognormal:
        v = expf(3.f * g);
        break;
      case Values::kOutlier12:
      case Values::kOutlier20: {
        const int s = c.values == Values::kOutlier12 ? 12 : 20;
        if (k % 97 == 5) v = ldexpf(g, is_a ? s : -s);
        break;
      }
      case Values::kSpecial:
        if (is_a && line % 37 == 3 && k == 7) v = INFINITY;
        if (is_a && line % 37 == 5 && k == 1) v = NAN;
        if (!is_a && line % 41 == 9 && k == 3) v = -INFINITY;
        break;
      case Values::kZeros:
        v = line % 3 == 1 || k % 64 < 8 ? 0.f : g;
        break;
      case Values::kSubnormal:
        v = is_a ? g * 1e-40f : g;
        break;
      case Values::kHuge:
        v = is_a ? g * 1e25f : g * 1e-15f;
        break;
      default:
        break;
    }
    x[batch * batch_stride + line * line_stride + k * k_stride] = v;
  }
}

// Rows `first`, `first + step`, ... of batch 0 and of the last batch: value and sum |a||b| in float64.
static __global__ void oracle(const float* a, const float* b, const float* bias, double* value, double* magnitude,
                              Case c, long long alda, long long aldk, long long blda, long long bldk, int rows,
                              int step) {
  const int n = blockIdx.x * 128 + threadIdx.x, r = blockIdx.y, m = min(r * step, c.m - 1);
  if (n >= c.n) return;
  double s = 0, t = 0;
  for (int k = 0; k < c.k; ++k) {
    const double p = static_cast<double>(a[m * alda + k * aldk]) * b[n * blda + k * bldk];
    s += p;
    t += fabs(p);
  }
  if (c.gelu) {
    s += bias[n];
    s = 0.5 * s * (1.0 + erf(s * 0.70710678118654752));
  }
  value[1ll * r * c.n + n] = s;
  magnitude[1ll * r * c.n + n] = t;
}

struct Errors {
  double norm = 0, element = 0;  // ||error|| / ||value||, max |error| / sum |a||b|
  int wrong_class = 0;           // NaN or Inf where float64 of float32 range says otherwise
};

struct Data {
  Case c;
  int lda, ldb, rows, step;
  Array<float> a, b, bias, y;
  Array<double> value, magnitude;

  explicit Data(const Case& problem, unsigned seed) : c(problem) {
    lda = (c.a == Major::kK ? c.k : c.m) + c.pad;
    ldb = (c.b == Major::kK ? c.k : c.n) + c.pad;
    a = Array<float>(static_cast<size_t>(lda) * lines_a() * c.batches + 4);
    b = Array<float>(static_cast<size_t>(ldb) * lines_b() * c.batches + 4);
    bias = Array<float>(c.n);
    y = Array<float>(static_cast<size_t>(c.m) * c.n * c.batches);
    Case plain = c;
    plain.values = Values::kNormal, plain.k = 1, plain.batches = 1;
    fill<<<1024, 256>>>(bias.data, plain, false, 1, 1, 0, c.n, seed + 2);
    refill(seed);
    rows = std::min(c.m, 48);
    step = rows > 1 ? (c.m - 1) / (rows - 1) : 1;
    value = Array<double>(static_cast<size_t>(rows) * c.n);
    magnitude = Array<double>(static_cast<size_t>(rows) * c.n);
  }
  int lines_a() const { return c.a == Major::kK ? c.m : c.k; }
  int lines_b() const { return c.b == Major::kK ? c.n : c.k; }
  long long batch_a() const { return 1ll * lda * lines_a(); }
  long long batch_b() const { return 1ll * ldb * lines_b(); }
  void refill(unsigned seed) {
    fill<<<1024, 256>>>(a.data, c, true, c.a == Major::kK ? lda : 1, c.a == Major::kK ? 1 : lda, batch_a(), c.m, seed);
    fill<<<1024, 256>>>(b.data, c, false, c.b == Major::kK ? ldb : 1, c.b == Major::kK ? 1 : ldb, batch_b(), c.n,
                        seed + 1);
    CHECK(cudaGetLastError());
  }
  int last() const { return c.batches - 1; }
  void run_oracle() {
    oracle<<<dim3((c.n + 127) / 128, rows), 128>>>(a.data + last() * batch_a(), b.data + last() * batch_b(), bias.data,
                                                   value.data, magnitude.data, c, c.a == Major::kK ? lda : 1,
                                                   c.a == Major::kK ? 1 : lda, c.b == Major::kK ? ldb : 1,
                                                   c.b == Major::kK ? 1 : ldb, rows, step);
    CHECK(cudaGetLastError());
  }
  Errors errors() const {
    const std::vector<double> v = value.host(), s = magnitude.host();
    std::vector<float> line(static_cast<size_t>(c.n));
    double error2 = 0, value2 = 0;
    Errors e;
    for (int r = 0; r < rows; ++r) {
      const size_t m = std::min(r * step, c.m - 1);
      CHECK(cudaMemcpy(line.data(), y.data + (static_cast<size_t>(last()) * c.m + m) * c.n, c.n * 4,
                       cudaMemcpyDeviceToHost));
      for (int n = 0; n < c.n; ++n) {
        const size_t i = static_cast<size_t>(r) * c.n + n;
        const float expected = static_cast<float>(v[i]);
        if (std::isnan(expected) != std::isnan(line[n]) || std::isinf(expected) != std::isinf(line[n]) ||
            (std::isinf(expected) && expected != line[n])) {
          ++e.wrong_class;
        } else if (std::isfinite(expected)) {
          const double d = line[n] - v[i];
          error2 += d * d;
          value2 += v[i] * v[i];
          if (s[i] > 1e-37) e.element = std::max(e.element, std::fabs(d) / (s[i] + (c.gelu ? 1.0 : 0.0)));
        }
      }
    }
    e.norm = value2 > 0 ? std::sqrt(error2 / value2) : std::sqrt(error2);
    return e;
  }
  void run_cublas(const Cublas& cublas) const {
    // Column-major: y^T (n x m) = op(b) (n x k) * op(a) (k x m).
    const float one = 1, zero = 0;
    const int result =
        cublas.sgemm(cublas.handle, c.b == Major::kK ? 1 : 0, c.a == Major::kK ? 0 : 1, c.n, c.m, c.k, &one, b.data,
                     ldb, batch_b(), a.data, lda, batch_a(), &zero, y.data, c.n, 1ll * c.m * c.n, c.batches);
    if (result) std::printf("cublas error %d\n", result);
  }
};
