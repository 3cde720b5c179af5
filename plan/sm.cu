#include "math/special.h"
#include "math/vector.h"
#include "rows/reduce.h"

SOLSTICE_KERNEL void SOLSTICE_BOUNDS(512, 2) solstice_sm(const float* SOLSTICE_RESTRICT p_x, float* SOLSTICE_RESTRICT p_y) {
using namespace solstice;
using namespace solstice::math;
unsigned char* const shared = shared_bytes();
const int rank = static_cast<int>(blockIdx.x % 8u);
rows::arrive_at_start();
const int position = static_cast<int>(threadIdx.x) % 512 + rank * 512;
int row = static_cast<int>(blockIdx.x / 8u) * 1 + static_cast<int>(threadIdx.x) / 512;
Vec<float, 4> k0[8];
Vec<float, 4> k1[8];
const int v0 = row * 131072;
#pragma unroll 8
for (int k = 0; k < 8; ++k) {
[[maybe_unused]] const int c = k * 4096 + position;
const int v1 = v0 + c * 4;
k0[k] = load<4, kPlain>(p_x + v1);
}
float r4;
{
float a0[4];
#pragma unroll
for (int lane = 0; lane < 4; ++lane) a0[lane] = rows::Max::start<float>();
#pragma unroll 8
for (int k = 0; k < 8; ++k) {
[[maybe_unused]] const int c = k * 4096 + position;
const Vec<float, 4> u2 = k0[k];
#pragma unroll
for (int lane = 0; lane < 4; ++lane) {
const float v3 = widen(u2.v[lane]);
a0[lane] = rows::Max::combine<float>(a0[lane], static_cast<float>(v3));
}
}
r4 = a0[0];
#pragma unroll
for (int lane = 1; lane < 4; ++lane) r4 = rows::Max::combine<float>(r4, a0[lane]);
rows::wait_for_start();
rows::publish<rows::Max, 512, 512, 8>(r4, reinterpret_cast<float*>(shared + 0), rank);
rows::sync_cluster();
r4 = rows::collect<rows::Max, 512, 512, 8, float>(reinterpret_cast<float*>(shared + 0));
}
float r9;
{
float a0[4];
#pragma unroll
for (int lane = 0; lane < 4; ++lane) a0[lane] = rows::Sum::start<float>();
#pragma unroll 8
for (int k = 0; k < 8; ++k) {
[[maybe_unused]] const int c = k * 4096 + position;
const Vec<float, 4> u5 = k0[k];
Vec<float, 4> k1_;
#pragma unroll
for (int lane = 0; lane < 4; ++lane) {
const float v6 = widen(u5.v[lane]);
const float v7 = v6 - r4;
const float v8 = exponential(v7);
a0[lane] = rows::Sum::combine<float>(a0[lane], static_cast<float>(v8));
k1_.v[lane] = v8;
}
k1[k] = k1_;
}
r9 = a0[0];
#pragma unroll
for (int lane = 1; lane < 4; ++lane) r9 = rows::Sum::combine<float>(r9, a0[lane]);
rows::publish<rows::Sum, 512, 512, 8>(r9, reinterpret_cast<float*>(shared + 2048), rank);
rows::sync_cluster();
r9 = rows::collect<rows::Sum, 512, 512, 8, float>(reinterpret_cast<float*>(shared + 2048));
}
const Divisor v13 = divisor(r9);
#pragma unroll 8
for (int k = 0; k < 8; ++k) {
[[maybe_unused]] const int c = k * 4096 + position;
const int v10 = v0 + c * 4;
const Vec<float, 4> u11 = k1[k];
Vec<float, 4> y0;
#pragma unroll
for (int lane = 0; lane < 4; ++lane) {
const float v12 = u11.v[lane];
const float v14 = divide(v12, v13);
y0.v[lane] = narrow<float>(v14);
}
store<kPlain>(p_y + v10, y0);
}
}
