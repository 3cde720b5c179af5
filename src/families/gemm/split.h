// Operands on their way to the planes that the tensor cores multiply (kernels/gemm/split.h): how the split pass walks
// them, and the planes, scales and guard words that it leaves.
#pragma once

#include <vector>

#include "families/gemm/settings.h"

namespace solstice::families::gemm {

inline constexpr int kSplitThreads = 256;  // kernels/gemm/operand.h

// One operand on its way to planes: how the split pass walks it, and its planes.
struct SplitPlan {
  OperandAccess operand;
  bool is_a = true, is_second = false;  // a second B
  Major major = Major::kK;
  int64_t batches = 1, lines = 1, length = 1;  // lines of `length` contiguous elements
  int64_t stride = 0;                          // between lines
  int64_t plane_stride = 1;                    // elements of a line of a plane
  int64_t scale_stride = 0, chunks = 1;
  int64_t blocks = 1;  // guard words; of a streamed operand, those of the product
  int planes = 1, bytes = 2, scale_size = 1;
  int lanes = 0, pieces = 0;  // of a short line under one scale (kernels/gemm/split.h)
  const char* letter() const { return is_a ? "a" : is_second ? "b1" : "b"; }
  int64_t plane_bytes() const { return batches * planes * lines * plane_stride * bytes; }
  int64_t scale_bytes() const { return batches * chunks * scale_stride * scale_size; }
};
SplitPlan split_plan(const Context& context, const Problem& problem, const Settings& settings, bool is_a);

// Blocks of the split pass that an SM is to hold, by the registers that they leave a thread.
int split_blocks(const Settings& settings, Major major);

// Guard words decide whether the fallback runs: of operands that are scaled, or of a streamed operand.
bool has_guard(const Settings& settings, const SplitPlan& operand);

// A, B and, of two sums that share A, the other B.
std::vector<SplitPlan> split_plans(const Context& context, const Problem& problem, const Settings& settings);

}  // namespace solstice::families::gemm
