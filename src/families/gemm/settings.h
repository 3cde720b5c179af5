// The knobs of family gemm as values.
#pragma once

#include <string_view>
#include <vector>

#include "families/family.h"
#include "families/gemm/problem.h"
#include "families/tensor_core/tile_config.h"

namespace solstice::families::gemm {

// The operand that a kernel reads once, in its own format, instead of planes made by a pass beforehand: that of the
// result's rows (A) or columns (B).
enum class Streamed { kNone, kRows, kColumns };

struct Settings : TileConfig {
  Streamed stream = Streamed::kNone;  // with it, and with math=simt, `split` is of blocks
  bool prepack = false;               // weights are split once, at load
};

// In tiles on the tensor cores.
inline bool is_tiled(const Settings& s) { return s.math != Math::kSimt && s.stream == Streamed::kNone; }
inline bool is_built(Math math) { return math != Math::kF64; }

DType operand_dtype(const Contraction& product);  // of both
DType operand_dtype(const Problem& problem);
const std::vector<Math>& allowed_maths(const Context& context, const Problem& problem);

inline constexpr int kSmallTile = 32;  // of math=simt for small results (kernels/gemm/small.h)

std::string_view name_of(Streamed stream);  // as the knob is written
bool is_scaled(Math math, const Problem& problem);
bool needs_planes(const Settings& settings, const OperandAccess& operand, Major major);
bool is_packed(const ir::Program& program, const Settings& settings, const OperandAccess& operand);

}  // namespace solstice::families::gemm
