#include "math/special.h"
#include "math/vector.h"
#include "rows/reduce.h"

SOLSTICE_KERNEL void SOLSTICE_BOUNDS(1024, 1) solstice_norm(const float* SOLSTICE_RESTRICT p_x, const float* SOLSTICE_RESTRICT p_g, const float* SOLSTICE_RESTRICT p_be, float* SOLSTICE_RESTRICT p_y) {
using namespace solstice;
using namespace solstice::math;
unsigned char* const shared = shared_bytes();
const int rank = static_cast<int>(blockIdx.x % 16u);
rows::arrive_at_start();
const int position = static_cast<int>(threadIdx.x) % 1024 + rank * 1024;
int row = static_cast<int>(blockIdx.x / 16u) * 1 + static_cast<int>(threadIdx.x) / 1024;
const int v0 = static_cast<int>(static_cast<unsigned>(row) % 8u);
const int v1 = static_cast<int>(static_cast<unsigned>(row) / 8u);
const int v7 = v1 * 16777216 + v0 * 2097152;
double r11;
{
double a0[4];
#pragma unroll
for (int lane = 0; lane < 4; ++lane) a0[lane] = rows::Sum::start<double>();
#pragma unroll 4
for (int k = 0; k < 32; ++k) {
[[maybe_unused]] const int c = k * 16384 + position;
const int v4 = static_cast<int>(static_cast<unsigned>(c) % 65536u);
const int v5 = static_cast<int>(static_cast<unsigned>(c) / 65536u);
const int v8 = v7 + v5 * 262144 + v4 * 4;
Vec<float, 4> w6;
w6 = load<4, kPlain>(p_x + v8);

#pragma unroll
for (int lane = 0; lane < 4; ++lane) {
const float v9 = widen(w6.v[lane]);
const double v10 = static_cast<double>(v9);
a0[lane] = rows::Sum::combine<double>(a0[lane], static_cast<double>(v10));
}
}
r11 = a0[0];
#pragma unroll
for (int lane = 1; lane < 4; ++lane) r11 = rows::Sum::combine<double>(r11, a0[lane]);
rows::wait_for_start();
rows::publish<rows::Sum, 1024, 1024, 16>(r11, reinterpret_cast<double*>(shared + 0), rank);
rows::sync_cluster();
r11 = rows::collect<rows::Sum, 1024, 1024, 16, double>(reinterpret_cast<double*>(shared + 0));
}
const double v19 = r11 / 2097152.0;
const float v20 = rounded<float>(v19);
float r23;
{
float a0[4];
#pragma unroll
for (int lane = 0; lane < 4; ++lane) a0[lane] = rows::Sum::start<float>();
#pragma unroll 4
for (int k = 0; k < 32; ++k) {
[[maybe_unused]] const int c = k * 16384 + position;
const int v14 = static_cast<int>(static_cast<unsigned>(c) % 65536u);
const int v15 = static_cast<int>(static_cast<unsigned>(c) / 65536u);
const int v17 = v7 + v15 * 262144 + v14 * 4;
Vec<float, 4> w16;
w16 = load<4, kPlain>(p_x + v17);

#pragma unroll
for (int lane = 0; lane < 4; ++lane) {
const float v18 = widen(w16.v[lane]);
const float v21 = v18 - v20;
const float v22 = v21 * v21;
a0[lane] = rows::Sum::combine<float>(a0[lane], static_cast<float>(v22));
}
}
r23 = a0[0];
#pragma unroll
for (int lane = 1; lane < 4; ++lane) r23 = rows::Sum::combine<float>(r23, a0[lane]);
rows::publish<rows::Sum, 1024, 1024, 16>(r23, reinterpret_cast<float*>(shared + 8192), rank);
rows::sync_cluster();
r23 = rows::collect<rows::Sum, 1024, 1024, 16, float>(reinterpret_cast<float*>(shared + 8192));
}
const float v32 = r23 * 4.7683716e-07f;
const float v33 = v32 + 1e-05f;
const float v34 = math::rsqrt(v33);
const int v36 = v0 * 8;
#pragma unroll 4
for (int k = 0; k < 32; ++k) {
[[maybe_unused]] const int c = k * 16384 + position;
const int v26 = static_cast<int>(static_cast<unsigned>(c) % 65536u);
const int v27 = static_cast<int>(static_cast<unsigned>(c) / 65536u);
const int v28 = v7 + v27 * 262144 + v26 * 4;
Vec<float, 4> w29;
w29 = load<4, kPlain>(p_x + v28);

const int v37 = v36 + v27;
const float v38 = load_one(p_g + v37);
const float v40 = load_one(p_be + v37);
Vec<float, 4> y0;
#pragma unroll
for (int lane = 0; lane < 4; ++lane) {
const float v30 = widen(w29.v[lane]);
const float v31 = v30 - v20;
const float v35 = v31 * v34;
const float v39 = v35 * v38;
const float v41 = v39 + v40;
y0.v[lane] = narrow<float>(v41);
}
store<kPlain>(p_y + v28, y0);
}
}
