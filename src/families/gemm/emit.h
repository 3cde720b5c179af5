// CUDA text of family gemm: a configuration, the epilogue as a functor, and entry points over kernels/gemm.
#pragma once

#include <string>
#include <vector>

#include "families/gemm/split.h"
#include "families/gemm/stream/stream.h"
#include "families/tensor_core/stream_k.h"

namespace solstice::families::gemm {

// `splits`: the operands that one launch takes. Parameters per operand: x (or the tensors that its prologue reads),
// planes, then scales and guard if scaled; then, where there are any, the signals of the product that follows, which it
// clears.
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

// Parameters: map of the held planes, streamed operand, scales (if scaled), partial sums, guard words of the streamed
// operand (if scaled or of guarded sums).
std::string stream_source(const std::string& entry, const Problem& problem, const Settings& settings,
                          const StreamPlan& plan, int64_t scale_stride);

// Adds up the partial sums of a math without a guard. Parameters: partial sums, tensors the epilogue reads, tensors it
// writes.
std::string finish_source(const std::string& entry, const ir::Program& program, const Problem& problem,
                          const Settings& settings);

// Parameters: streamed operand, held operand, tensors the epilogue reads, tensors it writes.
std::string gemv_source(const std::string& entry, const ir::Program& program, const Problem& problem,
                        const Settings& settings, const StreamPlan& plan);

}  // namespace solstice::families::gemm
