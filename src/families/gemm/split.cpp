#include "families/gemm/split.h"

#include <algorithm>
#include <bit>

#include "base/integer.h"
#include "families/gemm/stream/stream.h"

namespace solstice::families::gemm {
namespace {

// Lines that fit the registers of a warp: one of some of its lanes each, since a block would wait twice for every one.
void keep_short_lines(SplitPlan& x) {
  constexpr int64_t kOfThread = 16, kWarp = 32, kMost = 1024;  // elements; threads; elements
  if (x.plane_stride > kMost) return;
  const auto lanes = std::bit_ceil(static_cast<uint64_t>(ceil_div(x.plane_stride, kOfThread)));
  x.lanes = static_cast<int>(std::min<uint64_t>(lanes, kWarp));
  x.pieces = static_cast<int>(ceil_div(x.plane_stride, int64_t{4} * x.lanes));
}

}  // namespace

int split_blocks(const Settings& s, Major major) { return major != Major::kMN ? 5 : is_line_scaled(s) ? 3 : 4; }

bool has_guard(const Settings& s, const SplitPlan& x) {
  return s.scaled || (guards_sums(s) && s.stream == (x.is_a ? Streamed::kRows : Streamed::kColumns));
}

std::vector<SplitPlan> split_plans(const Context& context, const Problem& problem, const Settings& s) {
  std::vector<SplitPlan> out = {split_plan(context, problem, s, true), split_plan(context, problem, s, false)};
  if (!problem.product.second) return out;
  Problem other = problem;
  other.product.b = problem.product.second->b;
  out.push_back(split_plan(context, other, s, false));
  out.back().is_second = true;
  return out;
}

SplitPlan split_plan(const Context& context, const Problem& problem, const Settings& s, bool is_a) {
  const Contraction& c = problem.product;
  SplitPlan out;
  out.is_a = is_a;
  out.operand = is_a ? c.a : c.b;
  const int64_t extent = is_a ? c.m : c.n;
  out.major = major_of(out.operand, extent, c.k);
  const bool by_k = out.major != Major::kMN;
  out.batches = c.batches;
  out.lines = by_k ? extent : c.k;
  out.length = by_k ? c.k : extent;
  out.stride = by_k ? out.operand.line : out.operand.k;
  out.plane_stride = round_up(out.length, 64);  // whole 128-byte lines: a row of a box then touches one of L2's
  // Tiles and clusters of tiles beyond the operand read it too.
  const int64_t tile = is_a ? s.tile_m : int64_t{s.tile_n} * s.cluster_n;  // held lines of a stream may be 24 or 112
  out.scale_stride = std::max(round_up(extent, 512), round_up(extent, tile));
  out.chunks = ceil_div(c.k, 64);  // that have scales of their own
  out.planes = numerics::info(s.math).planes;
  out.bytes = element_bytes(s.math);
  // Work items of kernels/gemm/split.h or split_lines.h, and as many blocks as the SMs hold at once.
  const bool by_line = is_line_scaled(s);
  if (by_line) out.chunks = 1;
  if (by_line && by_k) keep_short_lines(out);
  const int64_t items = !by_line ? out.batches * out.chunks * ceil_div(extent, by_k ? 64 : 128)
                        : by_k   ? ceil_div(out.batches * extent, out.lanes > 0 ? kSplitThreads / out.lanes : 1)
                                 : out.batches * ceil_div(extent, 32);
  out.blocks = std::min<int64_t>(items, context.machine.sm_count * split_blocks(s, out.major));
  // Scales along an accumulator's columns are floats, along its rows exponents.
  const bool streaming = s.stream != Streamed::kNone && !is_gemv(s);
  out.scale_size = is_a && !streaming && !by_line ? 1 : 4;
  if (streaming && is_a == (s.stream == Streamed::kRows)) out.blocks = stream_plan(context, problem, s).tiles * s.split;
  return out;
}

}  // namespace solstice::families::gemm
