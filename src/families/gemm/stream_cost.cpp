#include <algorithm>
#include <cmath>

#include "base/integer.h"
#include "families/emission.h"
#include "families/gemm/cost.h"
#include "families/gemm/cost_terms.h"
#include "families/gemm/stream.h"

namespace solstice::families::gemm {
namespace {

// Fitted to the measurements of docs/gemm.md, in seconds.
constexpr double kOneLaunch = 3.0e-6;      // an fp32 form beyond its launch: first loads, sums across warps
constexpr double kStreamOverhead = 10e-6;  // the tensor-core form: the same, and the second step
constexpr double kReadShare = 0.92;        // of the read ceiling that the fp32 forms reach
constexpr double kGemvMultiply = 3.65;     // instructions of the fp32 stream for one element and held line, but the first
constexpr double kSmallStage = 0.75e-6;    // 64 k of a 32 x 32 tile, however few the blocks
constexpr double kSmallShare = 2.2;        // of its multiply-adds at full rate, where blocks share an SM
// 64 x 64 elements scaled, split and multiplied by one of several warpgroups of an SM, and by one alone.
constexpr double kChunk = 0.60e-6, kChunkOfHeld = 0.0036e-6, kChunkAlone = 1.85e-6;
constexpr double kRoomyChunk = 0.49e-6, kRoomyChunkOfHeld = 0.0031e-6, kRoomyAlone = 1.45e-6;  // of more than 64 held lines
constexpr double kChunkMN = 0.06e-6;                                                           // more where k is not contiguous,
constexpr double kChunkNarrow = 0.20e-6, kChunkPairs = 0.13e-6;  // and where lines are aligned to 4 or 8 bytes
constexpr double kAloneMN = 10, kAloneNarrow = 1.5;              // times that, for a lone group
constexpr double kPlanes = 0.1;                                  // of the time held planes take from L2
// The same of TF32, whose fragments need no splitting; what blocks read in all leaves L2 at this share of its rate.
constexpr double kTf32Chunk = 0.12e-6, kTf32ChunkOfHeld = 0.0014e-6, kTf32Alone = 0.8e-6, kFromL2 = 0.75;
// And of bf16x6, most of it products; and what all warpgroups of an SM wait beside them.
constexpr double kSixChunk = 0.28e-6, kSixChunkOfHeld = 0.005e-6, kSixWait = 0.3e-6;
constexpr double kSixNarrow = 0.11e-6, kSixPairs = 0.04e-6;
constexpr double kTwoSlots = 1.1;  // where two chunks of the held operand have room, not three
constexpr double kRound = 2.5e-6;  // a round of blocks after the first
constexpr double kRowSums = 3;     // partial sums of streamed rows leave in half sectors

struct Rates {
  double sms, read, copy, fma;  // per second; fma: instructions of one lane
  explicit Rates(const machine::Machine& m) : sms(m.sm_count), read(m.read_ceiling().per_second), copy(m.copy_ceiling().per_second) {
    const auto simt = m.ceiling(machine::Pipe::kSimtF32);
    fma = simt.ok() ? simt->per_second / 2 : 1e9;
  }
};

}  // namespace

Cost estimate_small(const Context& context, const Problem& problem, const Settings& s) {
  const Contraction& c = problem.product;
  const Rates r(context.machine);
  const double tiles = static_cast<double>(ceil_div(c.m, kSmallTile) * ceil_div(c.n, kSmallTile) * c.batches);
  const double stages = static_cast<double>(ceil_div(c.k, 64));
  const double launch = context.machine.launch_time().value + kOneLaunch + fold_time(context, problem);
  // A stage of one block alone on an SM waits for its loads; blocks that share the SM hide that.
  const double stage = 32.0 * 32 * 64 / (r.fma / r.sms) * kSmallShare;
  const double compute = stages * std::max(kSmallStage, std::ceil(tiles / r.sms) * stage) + prologue_time(context, c, kSmallTile);
  const double bytes = elements_of(c.a, c.m, c) * bytes_of_element(c.a) + elements_of(c.b, c.n, c) * bytes_of_element(c.b);
  return finished(problem, s, {launch, 0, compute, (bytes + result_bytes(context, problem)) / (r.read * kReadShare)}, bytes);
}

Cost estimate_gemv(const Context& context, const Problem& problem, const Settings& s) {
  const Contraction& c = problem.product;
  const StreamPlan p = stream_plan(context, problem, s);
  const Rates r(context.machine);
  const double streamed = elements_of(p.streamed, p.rows, c), held = elements_of(p.held, p.columns, c);
  const double bytes = streamed * bytes_of_element(p.streamed) + held * bytes_of_element(p.held) + result_bytes(context, problem);
  const double blocks = static_cast<double>(p.tiles * s.split);
  const double launch = context.machine.launch_time().value + kOneLaunch;
  const double thin = std::max(1.0, 1.9 * r.sms / blocks);  // few blocks, few loads on their way
  // Every block computes the held lines.
  const double made = streamed * prologue_instructions(p.streamed) + held * static_cast<double>(p.tiles) * prologue_instructions(p.held);
  const double memory = bytes / (r.read * kReadShare) * thin + streamed * static_cast<double>(p.columns - 1) * kGemvMultiply / r.fma +
                        made / issue_rate(context.machine).value;
  return finished(problem, s, {launch, 0, 0, memory}, bytes);
}

Cost estimate_stream(const Context& context, const Problem& problem, const Settings& s) {
  const Contraction& c = problem.product;
  const StreamPlan p = stream_plan(context, problem, s);
  const Rates r(context.machine);
  const double streamed = 4 * elements_of(p.streamed, p.rows, c), held = 4 * elements_of(p.held, p.columns, c);
  const bool packed = is_packed(context.program, s, p.held);
  const double blocks = static_cast<double>(p.tiles * s.split);
  const double chunks = std::ceil(std::ceil(static_cast<double>(c.k) / 64) / s.split);
  const double strided = p.major == Major::kMN ? kChunkMN : 0;
  const bool six = s.math == Math::kBF16x6, split_as_read = six || s.scaled;
  const double narrow = p.vector == 1 ? (six ? kSixNarrow : kChunkNarrow) : p.vector == 2 ? (six ? kSixPairs : kChunkPairs) : 0;
  const double held_lines = p.held_lines;
  const double few_slots = split_as_read && p.slots_held == 2 ? kTwoSlots : 1;
  const double plain = six                 ? kSixChunk + kSixChunkOfHeld * held_lines
                       : !s.scaled         ? kTf32Chunk + kTf32ChunkOfHeld * held_lines
                       : p.held_lines > 64 ? kRoomyChunk + kRoomyChunkOfHeld * held_lines
                                           : kChunk + kChunkOfHeld * held_lines;
  const double chunk = few_slots * plain + strided + narrow;
  const double lone = !s.scaled ? kTf32Alone : p.held_lines > 64 ? kRoomyAlone : kChunkAlone;
  const double alone = lone + kAloneMN * strided + kAloneNarrow * narrow;
  const double rounds = std::ceil(blocks / (r.sms * p.blocks_per_sm));
  // Blocks start while the pass before them still has SMs, and come to lie two on one where there is room.
  const double crowded = six && p.blocks_per_sm > 1 && blocks <= r.sms ? 2 : 1;
  const double resident = std::ceil(blocks / (rounds * r.sms)) * crowded * p.groups;  // warpgroups of an SM
  const double l2 = context.machine.l2_ceiling().per_second, planes = blocks / p.cluster * chunks * held_lines * 128 * p.planes_held;
  const double work = rounds * chunks * (six ? kSixWait + resident * chunk : std::max(resident * chunk, alone));
  // What moves bytes slows down while the last round leaves SMs without a block, but not by as many.
  const double room = rounds > 1 ? rounds * r.sms * p.blocks_per_sm : r.sms;
  const double thin = split_as_read ? 1 : std::sqrt(std::max(1.0, room / blocks));
  const double from_l2 = (blocks * chunks * p.groups * 64 * 256 + planes) / (l2 * kFromL2);
  const double compute = (rounds - 1) * kRound + (split_as_read ? work + kPlanes * planes / l2 : std::max(work, thin * from_l2));
  const double partial = 4.0 * s.split * static_cast<double>(c.batches * c.m * c.n);
  const double sums = (p.rows_are_m ? kRowSums : 2) * partial / r.copy + result_bytes(context, problem) / r.read;
  const double read = elements_of(p.held, p.columns, c) * bytes_of_element(p.held);
  const double made = elements_of(p.held, p.columns, c) * prologue_instructions(p.held) / issue_rate(context.machine).value;
  const double split = packed ? 0 : std::max((read + 0.5 * p.planes_held * held) / (r.copy * 0.8), made);
  const double launch = context.machine.launch_time().value * (packed ? 2 : 3) + kStreamOverhead + sums;
  return finished(problem, s, {launch, split, compute, thin * (streamed + held) / (r.read * kReadShare)},
                  streamed + 2 * held + 2 * partial);
}

}  // namespace solstice::families::gemm
