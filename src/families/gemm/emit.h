// CUDA text of family gemm: a configuration, the epilogue as a functor, and entry points over kernels/gemm.
#pragma once

#include <string>
#include <vector>

#include "families/gemm/settings.h"
#include "families/tensor_core/stream_k.h"

namespace solstice::families::gemm {

inline constexpr int kSplitThreads = 256;  // kernels/gemm/operand.h

// One operand on its way to planes: how the split pass walks it, and what it writes.
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

// Guard words decide whether the fallback runs: of operands that are scaled, or of what a product streams.
bool has_guard(const Settings& settings, const SplitPlan& operand);

// A, B and, of two sums that share A, the other B.
std::vector<SplitPlan> split_plans(const Context& context, const Problem& problem, const Settings& settings);

// `splits`: the operands that one launch takes. Parameters per operand: x (or what its prologue reads), planes, then
// scales and guard if scaled; then, where there are any, the signals of the product behind, which it clears.
std::string split_source(const std::string& entry, const std::vector<SplitPlan>& splits, const Settings& settings,
                         int64_t signals = 0);

// Parameters: maps of the operands and (if stored by the copy engine) the output; scales of the operands if scaled;
// where tiles are shared, sums and signals; tensors the epilogue reads; tensors it writes.
std::string tensor_source(const std::string& entry, const ir::Program& program, const Problem& problem,
                          const Settings& settings, const Layout& layout, const std::vector<SplitPlan>& operands,
                          const StreamK& shared);

// The fp32 form for small results. Parameters: A, B, tensors the epilogue reads, tensors it writes.
std::string small_source(const std::string& entry, const ir::Program& program, const Problem& problem,
                         const Settings& settings, const SplitPlan& a, const SplitPlan& b);

// Groups of threads that share the partial sums of an element, and elements of a row a thread takes (finish.h).
int finish_ways(const Settings& settings);
int finish_vector(const Problem& problem);

// Parameters: the operands, their guard words if `guarded`, partial sums if the product was streamed (they are added up
// where the guard allows it), tensors the epilogue reads, tensors it writes.
std::string simt_source(const std::string& entry, const ir::Program& program, const Problem& problem,
                        const Settings& settings, bool guarded, const std::vector<SplitPlan>& operands);

}  // namespace solstice::families::gemm
