// The rules on streamed operands, and on the blocks that share a sum.
#include <algorithm>
#include <string>

#include "base/integer.h"
#include "families/gemm/config.h"
#include "families/gemm/stream/stream.h"
#include "families/tensor_core/tile_rules.h"

namespace solstice::families::gemm {
namespace {

bool streams_tiles(const GemmConfig& c) { return is_streamed(c) && !is_gemv(c.settings); }

int64_t most_held(const GemmConfig& c) { return is_simt(c) ? kGemvHeld : kGemvHeld16Bit; }

void add_stream(GemmRules& rules) {
  rules.push_back(
      {"lean.reduced_stream", "E117", Severity::kError,
       "a kernel that reduces the product's rows computes tiles: `stream=none`",
       [](const GemmConfig& c) { return is_streamed(c) && (c.problem->epilogue.rows || c.problem->epilogue.resident); },
       [](const GemmConfig& c) {
         return fmt::format("`stream={}` in a kernel that reduces over the product's rows; legal: none",
                            name_of(c.settings.stream));
       },
       stop_streaming});
  rules.push_back(
      {"lean.stream", "E117", Severity::kError,
       "`stream` takes f32 operands with `math=fp16x3`, `math=bf16x6` and `math=tf32`, f16 with `math=fp16`, bf16 with "
       "`math=bf16`, any format with `math=simt`",
       [](const GemmConfig& c) {
         if (!is_streamed(c) || is_simt(c)) return false;
         return streams_tiles(c) ? !is_f32(*c.problem) : !has_16_bit_operands(*c.problem, c.settings.math);
       },
       [](const GemmConfig& c) {
         return fmt::format("`stream={}` with `math={}` and these operands", name_of(c.settings.stream), math_name(c));
       },
       stop_streaming});
}

// Rules of `split` for tiles.
void add_split(GemmRules& rules) {
  rules.push_back({"lean.split", "E117", Severity::kError,
                   "`split` goes with a streamed operand, or with tiles on the tensor cores",
                   [](const GemmConfig& c) { return is_simt(c) && !is_streamed(c) && c.settings.split != 1; },
                   [](const GemmConfig& c) {
                     return fmt::format("`split={}` with `math=simt` and no streamed operand", c.settings.split);
                   },
                   [](GemmConfig& c) { c.settings.split = 1; }});
  rules.push_back(split_rule<GemmConfig>());
  rules.push_back(unshared_rule<GemmConfig>());
}

// Rules of the forms of one launch.
void add_lines_stream(GemmRules& rules) {
  rules.push_back(
      {"lean.stream_halves", "E114", Severity::kError,
       "f16 and bf16 are streamed 16 bytes at a time: base, lines, batches and what is contiguous at multiples of that",
       [](const GemmConfig& c) {
         return is_gemv(c.settings) && !is_simt(c) && !streams_vectors(*c.problem, c.settings.stream);
       },
       [](const GemmConfig& c) {
         return fmt::format("`stream={}` with `math={}`: `{}` is not aligned to 16 bytes", name_of(c.settings.stream),
                            math_name(c), name_of_operand(c, c.settings.stream == Streamed::kRows));
       },
       stop_streaming});
  rules.push_back(
      {"lean.held_lines", "E117", Severity::kError,
       "`stream` holds at most 8 lines of the other operand with `math=simt`, 16 with `math=fp16` and `math=bf16`",
       [](const GemmConfig& c) {
         return is_gemv(c.settings) && stream_plan(*c.context, *c.problem, c.settings).columns > most_held(c);
       },
       [](const GemmConfig& c) {
         return fmt::format("`math={}, stream={}` holds at most {} lines of the other operand, which has {}",
                            math_name(c), name_of(c.settings.stream), most_held(c),
                            stream_plan(*c.context, *c.problem, c.settings).columns);
       },
       stop_streaming});
  rules.push_back({"lean.held_tile", "E111", Severity::kError,
                   "f16 and bf16 are streamed in tiles of 32 lines, or 64 where lines are contiguous, by 8 or 16 of "
                   "the other operand",
                   [](const GemmConfig& c) {
                     if (!is_gemv(c.settings) || is_simt(c)) return false;
                     Settings s = c.settings;
                     set_gemv_tile(*c.context, *c.problem, s);
                     return s.tile_m != c.settings.tile_m || s.tile_n != c.settings.tile_n;
                   },
                   [](const GemmConfig& c) {
                     return fmt::format("no kernel for `tile={}x{}` with `math={}, stream={}`", c.settings.tile_m,
                                        c.settings.tile_n, math_name(c), name_of(c.settings.stream));
                   },
                   [](GemmConfig& c) { set_gemv_tile(*c.context, *c.problem, c.settings); }});
  rules.push_back(
      {"lean.split_simt", "E117", Severity::kError,
       "with `stream` and `math=simt`, `fp16` or `bf16`, 1, 2, 4 or 8 blocks of a cluster share k",
       [](const GemmConfig& c) {
         return is_gemv(c.settings) && std::count(kGemvSplits.begin(), kGemvSplits.end(), c.settings.split) == 0;
       },
       [](const GemmConfig& c) { return fmt::format("`split={}`: blocks of a cluster share k", c.settings.split); },
       [](GemmConfig& c) { c.settings.split = nearest_of(kGemvSplits, c.settings.split); }});
}

const OperandAccess& streamed(const GemmConfig& c) {
  return c.settings.stream == Streamed::kRows ? c.product().a : c.product().b;
}

void add_prologue(GemmRules& rules) {
  rules.push_back(
      {"lean.prologue_stream", "E117", Severity::kError,
       "the streamed operand is read from memory, and with `math=simt`, `fp16` and `bf16` the other one too: "
       "neither is computed in the same kernel",
       [](const GemmConfig& c) {
         const bool both = is_gemv(c.settings);
         return is_streamed(c) && (both ? c.product().a.made || c.product().b.made : streamed(c).made != nullptr);
       },
       [](const GemmConfig& c) {
         const OperandAccess& other = c.settings.stream == Streamed::kRows ? c.product().b : c.product().a;
         return fmt::format("`stream={}`: the kernel computes an operand from `{}`", name_of(c.settings.stream),
                            c.context->program.tensor((streamed(c).made ? streamed(c) : other).tensor).name);
       },
       stop_streaming});
}

int& lines_held(Settings& s) { return s.stream == Streamed::kRows ? s.tile_n : s.tile_m; }
int& lines_streamed(Settings& s) { return s.stream == Streamed::kRows ? s.tile_m : s.tile_n; }

bool has_stream_tile(const GemmConfig& c) {
  Settings s = c.settings;
  const int rows = lines_streamed(s);
  const bool known = std::count(kHeldLines.begin(), kHeldLines.end(), lines_held(s)) > 0 && rows % 64 == 0 &&
                     rows >= 64 && rows <= 64 * kMostStreamGroups;
  return known && stream_plan(*c.context, *c.problem, s).blocks_per_sm > 0;
}

int64_t most_splits(const GemmConfig& c) { return std::min(kMostSplits, ceil_div(c.product().k, kChunkK)); }

void add_stream_tile(GemmRules& rules) {
  rules.push_back({"lean.stream_tile", "E117", Severity::kError,
                   "a streamed tile has 64, 128 or 192 lines of the streamed operand (as many as the registers of an "
                   "SM hold), 8, 16, 24, 32, 48, "
                   "64, 80, 96, 112 or 128 of the other",
                   [](const GemmConfig& c) { return streams_tiles(c) && !has_stream_tile(c); },
                   [](const GemmConfig& c) {
                     return fmt::format("no kernel for `tile={}x{}` with `stream={}`", c.settings.tile_m,
                                        c.settings.tile_n, name_of(c.settings.stream));
                   },
                   [](GemmConfig& c) {
                     Settings& s = c.settings;
                     lines_held(s) = nearest_of(kHeldLines, lines_held(s));
                     lines_streamed(s) = std::clamp((lines_streamed(s) + 32) / 64, 1, kMostStreamGroups) * 64;
                     while (lines_streamed(s) > 64 && !has_stream_tile(c)) lines_streamed(s) -= 64;
                     if (!has_stream_tile(c)) stop_streaming(c);
                   }});
  rules.push_back({"lean.stream_split", "E117", Severity::kError,
                   "with a streamed operand a block has a k of at least 64, and at most 128 blocks share a tile",
                   [](const GemmConfig& c) {
                     return streams_tiles(c) && (c.settings.split < 1 || c.settings.split > most_splits(c));
                   },
                   [](const GemmConfig& c) {
                     return fmt::format("`split={}`: a block has a k of at least 64; legal: 1..{}", c.settings.split,
                                        most_splits(c));
                   },
                   [](GemmConfig& c) {
                     c.settings.split = static_cast<int>(std::clamp<int64_t>(c.settings.split, 1, most_splits(c)));
                   }});
}

}  // namespace

void add_stream_rules(GemmRules& rules) {
  add_stream(rules);
  add_split(rules);
  add_lines_stream(rules);
  add_prologue(rules);
  add_stream_tile(rules);
}

}  // namespace solstice::families::gemm
