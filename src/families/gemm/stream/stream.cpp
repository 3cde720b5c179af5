#include "families/gemm/stream/stream.h"

#include <algorithm>

#include "base/integer.h"

namespace solstice::families::gemm {
namespace {

constexpr int64_t kSharedHeld =
    128;  // lines of planes that are worth a cluster: fewer are little against the streamed operand
constexpr int64_t kMostHeld = 1024;  // beyond, an operand would be split again for each of many tiles

// Blocks of 128 * groups threads that the registers of an SM hold. Each quarter of it holds one warp of four, of 128
// registers a thread with up to 32 held lines, 168 with up to 64 (bf16x6: 80), 255 with more (as compiled), where TF32,
// which adds to its sums in place, takes 168 too.
int blocks_by_registers(const machine::Machine& machine, Math math, int groups, int held_lines) {
  const int of_168 = math == Math::kTF32 ? 128 : math == Math::kBF16x6 ? 80 : 64;
  const int registers = held_lines <= 32 ? 128 : held_lines <= of_168 ? 168 : 255;
  return machine.registers_per_sm / 4 / (registers * 32) / groups;
}

int64_t plane_bytes(const StreamPlan& p) {
  return p.major_held == Major::kMN ? ceil_div(p.held_lines, 64) * 8192 : p.held_lines * 128;
}

int64_t ring_bytes(const StreamPlan& p) {
  const int64_t slot = 4 * p.groups * (p.major == Major::kMN ? 64 * 20 * 4 : 16 * 72 * 4);
  const int64_t scales = p.scaled ? round_up((p.slots_held + 1) * 4 * p.held_lines, 128) : 0;
  return p.slots_held * p.planes_held * plane_bytes(p) + scales + p.slots * slot + 16 * p.slots_held + 32 * p.groups;
}

// Fills the rings with as many chunks as a block's share of the SM's shared memory holds. False: not even two of each
// operand.
bool fill_rings(const machine::Machine& machine, StreamPlan& p) {
  const int64_t share = static_cast<int64_t>(machine.shared_per_sm.value) / p.blocks_per_sm -
                        static_cast<int64_t>(machine.shared_reserved_per_block.value);
  const int64_t limit = std::min(share, static_cast<int64_t>(machine.shared_per_block.value));
  for (const int held : {3, 2}) {
    for (const int slots : {6, 5, 4, 3, 2}) {
      p.slots_held = held, p.slots = slots;
      p.shared_bytes = ring_bytes(p);
      if (p.shared_bytes <= limit) return true;
    }
  }
  return false;
}

bool have_majors(const Contraction& c) {
  return major_of(c.a, c.m, c.k) != Major::kNone && major_of(c.b, c.n, c.k) != Major::kNone;
}

// Candidate tile heights: the fewest lines that hold all in one tile, two or three; for many lines, the fewest possible
// tiles and one or two more.
std::vector<int> held_lines_of(int64_t held) {
  std::vector<int> out;
  const int64_t fewest = ceil_div(held, kHeldLines.back());
  for (int64_t tiles = fewest; tiles < fewest + 3; ++tiles) {
    const int lines = *std::lower_bound(kHeldLines.begin(), kHeldLines.end(), ceil_div(held, tiles));
    if (out.empty() || lines != out.back()) out.push_back(lines);
  }
  return out;
}

// One to six full rounds of blocks over the SMs, and no sharing.
std::vector<int> splits_of(const Context& context, const StreamPlan& p, int64_t chunks) {
  std::vector<int> out = {1};
  for (int64_t rounds = 1; rounds <= 6; ++rounds) {
    const int64_t split =
        std::min({rounds * context.machine.sm_count * p.blocks_per_sm / p.tiles, chunks, kMostSplits});
    if (split > out.back()) out.push_back(static_cast<int>(split));
  }
  return out;
}

}  // namespace

void set_gemv_tile(const Context& context, const Problem& problem, Settings& s) {
  const StreamPlan p = stream_plan(context, problem, s);
  const int lines = static_cast<int>(gemv_shape(p, s).lines), held = p.columns <= 8 ? 8 : 16;
  s.tile_m = p.rows_are_m ? lines : held;
  s.tile_n = p.rows_are_m ? held : lines;
}

bool streams_with(Math math) { return math == Math::kFP16x3 || math == Math::kBF16x6 || math == Math::kTF32; }

bool is_gemv(const Settings& s) { return s.stream != Streamed::kNone && !streams_with(s.math); }

bool has_16_bit_operands(const Problem& problem, Math math) {
  const DType a = problem.product.a.dtype, b = problem.product.b.dtype;
  return a == b && ((math == Math::kBF16 && a == DType::kBF16) || (math == Math::kFP16 && a == DType::kF16));
}

bool streams_vectors(const Problem& problem, Streamed stream) {
  const Contraction& c = problem.product;
  const OperandAccess& x = stream == Streamed::kRows ? c.a : c.b;
  const int64_t lines = stream == Streamed::kRows ? c.m : c.n;
  const Major major = major_of(x, lines, c.k);
  return copies_directly(x, major) && (major == Major::kK ? c.k : lines) % 8 == 0;
}

bool guards_sums(const Settings& s) { return s.stream != Streamed::kNone && s.math == Math::kBF16x6; }

bool is_f32(const Problem& problem) {
  return problem.product.a.dtype == DType::kF32 && problem.product.b.dtype == DType::kF32;
}

GemvShape gemv_shape(const StreamPlan& p, const Settings& s) {
  if (s.math == Math::kSimt) return {.lines = p.major == Major::kK ? 8 : 32 * (p.vector == 4 ? 4 : 1)};
  // Both forms keep 64 KB per SM in flight.
  if (p.major == Major::kMN) return {.lines = 64, .warps = 16, .tiles = 4, .ahead = 2, .blocks = 1};
  return {.lines = 32, .warps = 16, .tiles = 2, .ahead = 1, .blocks = 1};
}

StreamPlan stream_plan(const Context& context, const Problem& problem, const Settings& s) {
  const Contraction& c = problem.product;
  StreamPlan p;
  p.rows_are_m = s.stream == Streamed::kRows;
  p.streamed = p.rows_are_m ? c.a : c.b;
  p.held = p.rows_are_m ? c.b : c.a;
  p.rows = p.rows_are_m ? c.m : c.n;
  p.columns = p.rows_are_m ? c.n : c.m;
  p.major = major_of(p.streamed, p.rows, c.k);
  p.major_held = major_of(p.held, p.columns, c.k);
  p.vector = p.streamed.dtype == DType::kF32 ? vector_of(p.streamed, p.major, 4) : 1;
  if (is_gemv(s)) {
    p.tiles = ceil_div(p.rows, gemv_shape(p, s).lines) * c.batches;
    return p;
  }
  p.groups = std::clamp((p.rows_are_m ? s.tile_m : s.tile_n) / 64, 1, kMostStreamGroups);
  p.held_lines = p.rows_are_m ? s.tile_n : s.tile_m;
  p.scaled = s.scaled;
  p.planes_held = s.math == Math::kTF32 ? 2 : numerics::info(s.math).planes;
  p.blocks_per_sm = blocks_by_registers(context.machine, s.math, p.groups, p.held_lines);
  const int64_t row_tiles = ceil_div(p.rows, 64 * p.groups);
  // An odd number of row tiles leaves one block of a cluster idle.
  p.cluster = p.planes_held * p.held_lines >= kSharedHeld && (row_tiles % 2 == 0 || row_tiles > 16) ? 2 : 1;
  p.tiles = round_up(row_tiles, p.cluster) * ceil_div(p.columns, p.held_lines) * c.batches;
  while (p.blocks_per_sm > 0 && !fill_rings(context.machine, p)) --p.blocks_per_sm;
  return p;
}

std::vector<Settings> stream_settings(const Context& context, const Problem& problem, Math math) {
  std::vector<Settings> out;
  const Contraction& c = problem.product;
  if (!have_majors(c)) return out;
  Settings s;
  s.math = math;
  for (const Streamed side : {Streamed::kColumns, Streamed::kRows}) {
    s.stream = side;
    const int64_t held = side == Streamed::kRows ? c.n : c.m;
    if (math == Math::kSimt || has_16_bit_operands(problem, math)) {
      s.tile_k = stage_k(math);
      if (math != Math::kSimt) set_gemv_tile(context, problem, s);
      for (const int split : kGemvSplits) {
        s.split = split;
        if (held <= (math == Math::kSimt ? kGemvHeld : kGemvHeld16Bit)) out.push_back(s);
      }
      continue;
    }
    if (!streams_with(math) || !is_f32(problem) || held > kMostHeld) continue;
    s.tile_k = stage_k(math);
    s.scaled = is_scaled(math, problem), s.prepack = context.frozen;
    for (const int lines : held_lines_of(held)) {
      for (int groups = 1; groups <= kMostStreamGroups; ++groups) {
        (side == Streamed::kRows ? s.tile_m : s.tile_n) = 64 * groups;
        (side == Streamed::kRows ? s.tile_n : s.tile_m) = lines;
        s.split = 1;
        const StreamPlan plan = stream_plan(context, problem, s);
        if (plan.blocks_per_sm == 0) continue;
        for (const int split : splits_of(context, plan, ceil_div(c.k, kChunkK))) {
          s.split = split;
          out.push_back(s);
        }
      }
    }
  }
  return out;
}

}  // namespace solstice::families::gemm
