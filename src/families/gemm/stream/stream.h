// Settings that stream an operand (kernels/gemm/stream.h, gemv.h): their plan for a problem and the settings worth a
// trial.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "families/gemm/settings.h"

namespace solstice::families::gemm {

// A streamed product as its kernels see it: rows are lines of the streamed operand, columns of the held one.
struct StreamPlan {
  bool rows_are_m = false;
  OperandAccess streamed, held;
  Major major = Major::kK, major_held = Major::kK;
  int64_t rows = 1, columns = 1;
  int vector = 4;  // elements of the streamed operand a copy takes
  // Tensor-core form only.
  int groups = 2, held_lines = 64;
  int planes_held = 2;  // of the held operand; of TF32 two halves of a chunk
  bool scaled = false;
  int slots = 2, slots_held = 2;  // chunks ahead, of the streamed and of the held operand; two at least
  int blocks_per_sm = 1;          // 0: not even one fits
  int64_t shared_bytes = 0;
  int cluster = 1;    // blocks that share held planes
  int64_t tiles = 1;  // in all batches, whole clusters of them
};
StreamPlan stream_plan(const Context& context, const Problem& problem, const Settings& settings);

// Forms of one launch, which hold few lines: fp32 (`math=simt`, gemv.h), and 16-bit operands as they lie (`math=bf16`,
// `fp16`, gemv_mma.h).
inline constexpr int64_t kGemvHeld = 8, kGemvHeld16Bit = 16;
bool is_gemv(const Settings& settings);
// Tile for 16-bit operands: held lines, in eights, and lines streamed by a block.
void set_gemv_tile(const Context& context, const Problem& problem, Settings& settings);
// A block of theirs; fields after `warps` are of 16-bit operands alone (measured, docs/measured/gemm.md).
struct GemvShape {
  int64_t lines = 8, warps = 8;  // of the streamed operand
  int tiles = 1, ahead = 1,
      blocks = 1;  // instructions' lines in sixteens, slabs on their way in a thread, blocks of an SM
  int vectors() const { return 4 * (lines == 64 ? 1 : tiles); }  // of a slab in a thread
};
GemvShape gemv_shape(const StreamPlan& plan, const Settings& settings);
inline constexpr std::array<int, 4> kGemvSplits = {1, 2, 4, 8};
// The tensor-core form: lines of the held operand, lines of the streamed one as multiples of 64, k of a chunk.
inline constexpr std::array<int, 10> kHeldLines = {8, 16, 24, 32, 48, 64, 80, 96, 112, 128};
inline constexpr int kMostStreamGroups = 3;
inline constexpr int64_t kChunkK = 64;
inline constexpr int64_t kMostSplits = 128;

bool is_f32(const Problem& problem);
// Both operands are stored in the 16 bits that `math` multiplies.
bool has_16_bit_operands(const Problem& problem, Math math);
// A lane can take the streamed operand in aligned vectors of 8, none of which reaches beyond it.
bool streams_vectors(const Problem& problem, Streamed stream);

// Maths whose tensor-core form with planes there is.
bool streams_with(Math math);

// The tensor-core form leaves guard words of its sums, without scales: where one is not finite, the fallback runs.
bool guards_sums(const Settings& settings);

// Settings with a streamed operand that fit the problem, for those and simt.
std::vector<Settings> stream_settings(const Context& context, const Problem& problem, Math math);

int64_t gemv_shared(const StreamPlan& plan, const Settings& settings);  // bytes

}  // namespace solstice::families::gemm
