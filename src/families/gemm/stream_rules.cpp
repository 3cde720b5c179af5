// The rules on streamed operands, and on the blocks that share a sum.
#include <algorithm>
#include <string>

#include "base/integer.h"
#include "families/gemm/rule_parts.h"
#include "families/gemm/stream.h"
#include "families/tensor_core/stream_k.h"

namespace solstice::families::gemm {
namespace {

bool streams_tiles(const LeanGemm& c) { return is_streamed(c) && !is_gemv(c.settings); }

int64_t most_held(const LeanGemm& c) { return is_simt(c) ? kGemvHeld : kGemvHeldHalves; }

void add_stream(LeanRules& rules) {
  rules.push_back({"lean.reduced_stream", "E117", Severity::kError,
                   "rows that are reduced in the kernel are taken from tiles: `stream=none`",
                   [](const LeanGemm& c) { return is_streamed(c) && (c.problem->rows || c.problem->whole); },
                   [](const LeanGemm& c) {
                     return fmt::format("`stream={}` in a kernel that reduces over the product's rows; legal: none",
                                        name_of(c.settings.stream));
                   },
                   stop_streaming});
  rules.push_back(
      {"lean.stream", "E117", Severity::kError,
       "`stream` takes f32 operands with `math=fp16x3`, `math=bf16x6` and `math=tf32`, f16 with `math=fp16`, bf16 with "
       "`math=bf16`, any format with `math=simt`",
       [](const LeanGemm& c) {
         if (!is_streamed(c) || is_simt(c)) return false;
         return streams_tiles(c) ? !is_f32(*c.problem) : !are_halves(*c.problem, c.settings.math);
       },
       [](const LeanGemm& c) {
         return fmt::format("`stream={}` with `math={}` and these operands", name_of(c.settings.stream), math_name(c));
       },
       stop_streaming});
}

// Of tiles.
void add_split(LeanRules& rules) {
  rules.push_back({"lean.split", "E117", Severity::kError,
                   "`split` goes with a streamed operand, or with tiles on the tensor cores",
                   [](const LeanGemm& c) { return is_simt(c) && !is_streamed(c) && c.settings.split != 1; },
                   [](const LeanGemm& c) {
                     return fmt::format("`split={}` with `math=simt` and no streamed operand", c.settings.split);
                   },
                   [](LeanGemm& c) { c.settings.split = 1; }});
  rules.push_back(
      {"lean.split_tiles", "E117", Severity::kError, "at most 128 clusters share the k of a tile",
       [](const LeanGemm& c) { return is_tiled(c) && (c.settings.split < 1 || c.settings.split > kMostSharing); },
       [](const LeanGemm& c) {
         return fmt::format("`split={}` of tiles; legal: 1..{}", c.settings.split, kMostSharing);
       },
       [](LeanGemm& c) { c.settings.split = std::clamp(c.settings.split, 1, kMostSharing); }});
  rules.push_back({"lean.split_unshared", "E117", Severity::kError,
                   "tiles of a triangle of the result, or of rows that elements need whole, are not shared: `split=1`",
                   [](const LeanGemm& c) {
                     return is_tiled(c) && c.settings.split != 1 && (has_half_plane(*c.problem) || c.problem->whole);
                   },
                   [](const LeanGemm& c) {
                     return fmt::format("`split={}` of tiles of {}", c.settings.split,
                                        c.problem->whole ? "whole rows" : "a triangle of the result");
                   },
                   [](LeanGemm& c) { c.settings.split = 1; }});
}

// Of forms of one launch.
void add_lines_stream(LeanRules& rules) {
  rules.push_back(
      {"lean.stream_halves", "E114", Severity::kError,
       "f16 and bf16 are streamed 16 bytes at a time: base, lines, batches and what is contiguous at multiples of that",
       [](const LeanGemm& c) {
         return is_gemv(c.settings) && !is_simt(c) && !streams_vectors(*c.problem, c.settings.stream);
       },
       [](const LeanGemm& c) {
         return fmt::format("`stream={}` with `math={}`: `{}` does not lie in units of 16 bytes",
                            name_of(c.settings.stream), math_name(c),
                            name_of_operand(c, c.settings.stream == Streamed::kRows));
       },
       stop_streaming});
  rules.push_back(
      {"lean.held_lines", "E117", Severity::kError,
       "`stream` holds at most 8 lines of the other operand with `math=simt`, 16 with `math=fp16` and `math=bf16`",
       [](const LeanGemm& c) {
         return is_gemv(c.settings) && stream_plan(*c.context, *c.problem, c.settings).columns > most_held(c);
       },
       [](const LeanGemm& c) {
         return fmt::format("`math={}, stream={}` holds at most {} lines of the other operand, which has {}",
                            math_name(c), name_of(c.settings.stream), most_held(c),
                            stream_plan(*c.context, *c.problem, c.settings).columns);
       },
       stop_streaming});
  rules.push_back({"lean.held_tile", "E111", Severity::kError,
                   "f16 and bf16 are streamed in tiles of 32 lines, or 64 where lines are contiguous, by 8 or 16 of "
                   "the other operand",
                   [](const LeanGemm& c) {
                     if (!is_gemv(c.settings) || is_simt(c)) return false;
                     Settings s = c.settings;
                     set_gemv_tile(*c.context, *c.problem, s);
                     return s.tile_m != c.settings.tile_m || s.tile_n != c.settings.tile_n;
                   },
                   [](const LeanGemm& c) {
                     return fmt::format("no kernel for `tile={}x{}` with `math={}, stream={}`", c.settings.tile_m,
                                        c.settings.tile_n, math_name(c), name_of(c.settings.stream));
                   },
                   [](LeanGemm& c) { set_gemv_tile(*c.context, *c.problem, c.settings); }});
  rules.push_back(
      {"lean.split_simt", "E117", Severity::kError,
       "with `stream` and `math=simt`, `fp16` or `bf16`, 1, 2, 4 or 8 blocks of a cluster share k",
       [](const LeanGemm& c) {
         return is_gemv(c.settings) && std::count(kGemvSplits.begin(), kGemvSplits.end(), c.settings.split) == 0;
       },
       [](const LeanGemm& c) { return fmt::format("`split={}`: blocks of a cluster share k", c.settings.split); },
       [](LeanGemm& c) { c.settings.split = nearest_of(kGemvSplits, c.settings.split); }});
}

const OperandAccess& streamed(const LeanGemm& c) {
  return c.settings.stream == Streamed::kRows ? product_of(c).a : product_of(c).b;
}

void add_prologue(LeanRules& rules) {
  rules.push_back(
      {"lean.prologue_stream", "E117", Severity::kError,
       "what is streamed lies in memory, and with `math=simt`, `fp16` and `bf16` the other operand too: neither is "
       "computed "
       "in the same kernel",
       [](const LeanGemm& c) {
         const bool both = is_gemv(c.settings);
         return is_streamed(c) && (both ? product_of(c).a.made || product_of(c).b.made : streamed(c).made != nullptr);
       },
       [](const LeanGemm& c) {
         const OperandAccess& other = c.settings.stream == Streamed::kRows ? product_of(c).b : product_of(c).a;
         return fmt::format("`stream={}`: the kernel computes an operand from `{}`", name_of(c.settings.stream),
                            c.context->program.tensor((streamed(c).made ? streamed(c) : other).tensor).name);
       },
       stop_streaming});
}

int& lines_held(Settings& s) { return s.stream == Streamed::kRows ? s.tile_n : s.tile_m; }
int& lines_streamed(Settings& s) { return s.stream == Streamed::kRows ? s.tile_m : s.tile_n; }

bool has_stream_tile(const LeanGemm& c) {
  Settings s = c.settings;
  const int rows = lines_streamed(s);
  const bool known = std::count(kHeldLines.begin(), kHeldLines.end(), lines_held(s)) > 0 && rows % 64 == 0 &&
                     rows >= 64 && rows <= 64 * kMostStreamGroups;
  return known && stream_plan(*c.context, *c.problem, s).blocks_per_sm > 0;
}

int64_t most_splits(const LeanGemm& c) { return std::min(kMostSplits, ceil_div(product_of(c).k, kChunkK)); }

void add_stream_tile(LeanRules& rules) {
  rules.push_back({"lean.stream_tile", "E117", Severity::kError,
                   "a streamed tile has 64, 128 or 192 lines of the streamed operand (as many as the registers of an "
                   "SM hold), 8, 16, 24, 32, 48, "
                   "64, 80, 96, 112 or 128 of the other",
                   [](const LeanGemm& c) { return streams_tiles(c) && !has_stream_tile(c); },
                   [](const LeanGemm& c) {
                     return fmt::format("no kernel for `tile={}x{}` with `stream={}`", c.settings.tile_m,
                                        c.settings.tile_n, name_of(c.settings.stream));
                   },
                   [](LeanGemm& c) {
                     Settings& s = c.settings;
                     lines_held(s) = nearest_of(kHeldLines, lines_held(s));
                     lines_streamed(s) = std::clamp((lines_streamed(s) + 32) / 64, 1, kMostStreamGroups) * 64;
                     while (lines_streamed(s) > 64 && !has_stream_tile(c)) lines_streamed(s) -= 64;
                     if (!has_stream_tile(c)) stop_streaming(c);
                   }});
  rules.push_back({"lean.stream_split", "E117", Severity::kError,
                   "with a streamed operand a block takes 64 k or more, and 128 share a tile at most",
                   [](const LeanGemm& c) {
                     return streams_tiles(c) && (c.settings.split < 1 || c.settings.split > most_splits(c));
                   },
                   [](const LeanGemm& c) {
                     return fmt::format("`split={}`: a block takes 64 k or more; legal: 1..{}", c.settings.split,
                                        most_splits(c));
                   },
                   [](LeanGemm& c) {
                     c.settings.split = static_cast<int>(std::clamp<int64_t>(c.settings.split, 1, most_splits(c)));
                   }});
}

}  // namespace

void add_stream_rules(LeanRules& rules) {
  add_stream(rules);
  add_split(rules);
  add_lines_stream(rules);
  add_prologue(rules);
  add_stream_tile(rules);
}

}  // namespace solstice::families::gemm
