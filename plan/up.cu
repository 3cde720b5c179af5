#include "math/special.h"
#include "math/vector.h"
#include "gemm/tensor.h"

namespace solstice {
using namespace math;

struct Epilogue {
static constexpr int kOutputs = 1;
static constexpr bool kTma = true;
const float* SOLSTICE_RESTRICT p_b;
float* SOLSTICE_RESTRICT o0;

struct In {
float v0;
Divisor v4;
};

SOLSTICE_DEVICE In load(int batch, int m, int n) const {
In in;
const float v0 = load_one(p_b + n);
in.v0 = v0;
const float v3 = math::sqrt(2.0f);
const Divisor v4 = divisor(v3);
in.v4 = v4;
return in;
}

SOLSTICE_DEVICE void compute(float acc, const In& in, int batch, int m, int n, float (&out)[kOutputs]) const {
const float v0 = in.v0;
const Divisor v4 = in.v4;
const float v1 = acc + v0;
const float v2 = 0.5f * v1;
const float v5 = divide(v1, v4);
const float v6 = math::erf(v5);
const float v7 = 1.0f + v6;
const float v8 = v2 * v7;
out[0] = static_cast<float>(v8);
}

template <int kOutput>
SOLSTICE_DEVICE static constexpr auto element() {
if constexpr (kOutput == 0) return float{};
}

template <int kOutput, class T>
SOLSTICE_DEVICE void store(int batch, int m, int n, T value) const {
if constexpr (kOutput == 0) o0[0 + batch * i64(0) + m * i64(8192) + n * i64(1)] = value;
}
};
}  // namespace solstice

using namespace solstice;
using Config = gemm::TensorConfig<gemm::Fp16x3, mma::Major::kK, mma::Major::kK, 128, 2, 2, 2, 4, 2, false>;

SOLSTICE_KERNEL void SOLSTICE_BOUNDS(Config::kThreads, 1) solstice_up(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, const __grid_constant__ TensorMap map_out, const u8* scales_a, const u8* scales_b, const float* SOLSTICE_RESTRICT p_b, float* SOLSTICE_RESTRICT o0) {
const gemm::Problem problem{1024, 8192, 8192, 1, 8, scales_a, scales_b, 1024, 8192};
gemm::run_tensor<Config>(map_a, map_b, map_out, problem, Epilogue{p_b, o0});
}
