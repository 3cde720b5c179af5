#include "gemm/split.h"
#include "math/platform.h"

using namespace solstice;

SOLSTICE_KERNEL void SOLSTICE_BOUNDS(gemm::kSplitThreads, 4) solstice_up_split(const float* SOLSTICE_RESTRICT x0, u8* SOLSTICE_RESTRICT planes0, u8* SOLSTICE_RESTRICT scales0, gemm::GuardWord* SOLSTICE_RESTRICT guard0, const float* SOLSTICE_RESTRICT x1, u8* SOLSTICE_RESTRICT planes1, u8* SOLSTICE_RESTRICT scales1, gemm::GuardWord* SOLSTICE_RESTRICT guard1) {
ptx::let_next_kernel_start();
const int block = static_cast<int>(blockIdx.x);
if (block < 528) {
const gemm::Operand<float> x{x0, i64(0), i64(8192), 1, 1024, 8192, planes0, 8192, scales0, 1024, guard0};
gemm::split_operand<gemm::Fp16x3, gemm::kScaleBytesA, mma::Major::kK, 4>(x, block - 0, 528);
return;
}
const gemm::Operand<float> x{x1, i64(0), i64(8192), 1, 8192, 8192, planes1, 8192, scales1, 8192, guard1};
gemm::split_operand<gemm::Fp16x3, gemm::kScaleBytesB, mma::Major::kK, 4>(x, block - 528, 528);
}
