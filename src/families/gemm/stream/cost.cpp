#include "families/gemm/cost.h"

#include <algorithm>
#include <cmath>

#include "base/integer.h"
#include "families/emission.h"
#include "families/gemm/operand_cost.h"
#include "families/gemm/stream/stream.h"

namespace solstice::families::gemm {
namespace {

// Fitted to the measurements of docs/measured/gemm.md, in seconds.
constexpr double kStreamOverhead = 9e-6;  // beyond its launches: first loads, the second step
constexpr double kStreamedShare = 0.97;   // of the read ceiling, where lines are aligned,
constexpr double kUnaligned = 1.2;        // and how much longer others take, which straddle more of L2's
// 64 x 64 elements scaled, split and multiplied by one of several warpgroups of an SM, and by one alone.
constexpr double kChunk = 0.60e-6, kChunkOfHeld = 0.0036e-6, kChunkAlone = 1.85e-6;
constexpr double kRoomyChunk = 0.49e-6, kRoomyChunkOfHeld = 0.0031e-6,
                 kRoomyAlone = 1.45e-6;                          // of more than 64 held lines
constexpr double kChunkMN = 0.06e-6;                             // more where k is not contiguous,
constexpr double kChunkNarrow = 0.20e-6, kChunkPairs = 0.13e-6;  // and where lines are aligned to 4 or 8 bytes
constexpr double kAloneMN = 10, kAloneNarrow = 1.5, kTf32AloneNarrow = 2.5;  // times that, for a lone group
constexpr double kPlanes = 0.1;                                              // of the time held planes take from L2
// The same of TF32, whose fragments need no splitting; all that blocks read leaves L2 at this share of its rate.
constexpr double kTf32Chunk = 0.12e-6, kTf32ChunkOfHeld = 0.0014e-6, kTf32Alone = 0.8e-6, kFromL2 = 0.75;
// And of bf16x6, most of it products; and the time that all warpgroups of an SM wait in addition.
constexpr double kSixChunk = 0.28e-6, kSixChunkOfHeld = 0.005e-6, kSixWait = 0.3e-6;
constexpr double kSixNarrow = 0.11e-6, kSixPairs = 0.04e-6;
constexpr double kTwoSlots = 1.1;  // factor if the ring has room for two chunks of the held operand, not three
constexpr double kRound = 4e-6;    // a round of blocks after the first: it fills its slots anew
// Partial sums are written while an operand is streamed, and read again by a launch that has nothing else to do: times
// what their bytes take to be copied once. Those of streamed rows leave in half sectors.
constexpr double kSums = 2.8, kRowSums = 4.2;

// A chunk of 64 k by one of several warpgroups of an SM, and by one alone.
struct ChunkTime {
  double among, alone;
};

ChunkTime chunk_time(const StreamPlan& p, const Settings& s) {
  const bool six = s.math == Math::kBF16x6;
  const double strided = p.major == Major::kMN ? kChunkMN : 0;
  const double narrow = p.vector == 1   ? (six ? kSixNarrow : kChunkNarrow)
                        : p.vector == 2 ? (six ? kSixPairs : kChunkPairs)
                                        : 0;
  const double held = p.held_lines, few_slots = (six || s.scaled) && p.slots_held == 2 ? kTwoSlots : 1;
  const double plain = six                 ? kSixChunk + kSixChunkOfHeld * held
                       : !s.scaled         ? kTf32Chunk + kTf32ChunkOfHeld * held
                       : p.held_lines > 64 ? kRoomyChunk + kRoomyChunkOfHeld * held
                                           : kChunk + kChunkOfHeld * held;
  const double lone = !s.scaled ? kTf32Alone : p.held_lines > 64 ? kRoomyAlone : kChunkAlone;
  return {few_slots * plain + strided + narrow,
          lone + kAloneMN * strided + (six || s.scaled ? kAloneNarrow : kTf32AloneNarrow) * narrow};
}

// Blocks in rounds over the SMs, and the chunks of one.
struct Walk {
  double blocks, chunks, rounds, at_once;
};

Walk walk_of(const Context& context, const Contraction& c, const StreamPlan& p, const Settings& s) {
  const double at_once = static_cast<double>(context.machine.sm_count * p.blocks_per_sm),
               blocks = static_cast<double>(p.tiles * s.split);
  return {blocks, std::ceil(std::ceil(static_cast<double>(c.k) / 64) / s.split), std::ceil(blocks / at_once), at_once};
}

// Transfers slow down while the last round leaves SMs without a block, but not by as many.
double thinned(const Context& context, const Walk& walk) {
  const double room = walk.rounds > 1 ? walk.rounds * walk.at_once : static_cast<double>(context.machine.sm_count);
  return std::sqrt(std::max(1.0, room / walk.blocks));
}

double multiply_time(const Context& context, const StreamPlan& p, const Settings& s, const Walk& walk, double thin) {
  const bool six = s.math == Math::kBF16x6;
  const ChunkTime chunk = chunk_time(p, s);
  // Blocks start while the pass before them still has SMs, and come to lie two on one where there is room.
  const double sms = context.machine.sm_count, crowded = six && p.blocks_per_sm > 1 && walk.blocks <= sms ? 2 : 1;
  const double resident = std::ceil(walk.blocks / (walk.rounds * sms)) * crowded * p.groups;  // warpgroups of an SM
  const double l2 = context.machine.l2_ceiling().per_second;
  const double planes = walk.blocks / p.cluster * walk.chunks * p.held_lines * 128 * p.planes_held;
  const double work = walk.rounds * walk.chunks *
                      (six ? kSixWait + resident * chunk.among : std::max(resident * chunk.among, chunk.alone));
  if (six || s.scaled) return work + kPlanes * planes / l2;
  return std::max(work, thin * (walk.blocks * walk.chunks * p.groups * 64 * 256 + planes) / (l2 * kFromL2));
}

// The pass that makes planes of the held operand.
double split_time(const Context& context, const Contraction& c, const StreamPlan& p) {
  const double elements = elements_of(p.held, p.columns, c), copy = context.machine.copy_ceiling().per_second;
  const double made = elements * prologue_instructions(p.held) / issue_rate(context.machine).value;
  return std::max(elements * (bytes_of_element(p.held) + 2 * p.planes_held) / (copy * 0.8), made);
}

}  // namespace

Cost estimate_stream(const Context& context, const Problem& problem, const Settings& s) {
  const Contraction& c = problem.product;
  const StreamPlan p = stream_plan(context, problem, s);
  const Walk walk = walk_of(context, c, p, s);
  const double read = context.machine.read_ceiling().per_second,
               thin = s.scaled || s.math == Math::kBF16x6 ? 1 : thinned(context, walk);
  const double streamed = 4 * elements_of(p.streamed, p.rows, c), held = 4 * elements_of(p.held, p.columns, c);
  const double partial = 4.0 * s.split * static_cast<double>(c.batches * c.m * c.n);
  const double sums = (p.rows_are_m ? kRowSums : kSums) * partial / context.machine.copy_ceiling().per_second;
  const bool packed = is_packed(context.program, s, p.held);
  CostTerms terms;
  terms.launch = context.machine.launch_time().value * (packed ? 2 : 3) + kStreamOverhead + (walk.rounds - 1) * kRound +
                 sums + result_bytes(context.program, problem.product, problem.epilogue) / read;
  terms.split = packed ? 0 : split_time(context, c, p);
  terms.compute = multiply_time(context, p, s, walk, thin);
  terms.memory = thin * (p.vector == 1 ? kUnaligned : 1) * (streamed + held) / (read * kStreamedShare);
  return cost_of(problem, s, terms, streamed + 2 * held + 2 * partial);
}

}  // namespace solstice::families::gemm
