// Forms of one launch: streams without planes, and small results.
#include <algorithm>
#include <cmath>

#include "base/integer.h"
#include "families/emission.h"
#include "families/gemm/cost.h"
#include "families/gemm/operand_cost.h"
#include "families/gemm/stream/stream.h"
#include "families/memory_time.h"

namespace solstice::families::gemm {
namespace {

// Fitted to the measurements of docs/measured/gemm.md, in seconds.
constexpr double kOneLaunch = 3.0e-6;    // beyond the launch: first loads, sums across warps
constexpr double kReadShare = 0.92;      // of the read ceiling
constexpr double kGemvMultiply = 3.65;   // instructions of the fp32 stream for one element and held line, but the first
constexpr double kSmallStage = 0.75e-6;  // 64 k of a 32 x 32 tile, however few the blocks
constexpr double kSmallShare = 2.2;      // of its multiply-adds at full rate, where blocks share an SM

// Elements of 2 bytes and less are loaded one by one: how much longer they take than vectors, where lines are
// contiguous more.
constexpr double kGemvNarrow = 1.45, kGemvNarrowMN = 3.5;
// 16-bit operands as they lie: of the read ceiling, a round of blocks, each further block of a cluster (its sums, and
// that all of them start and end together), and how long a byte is on its way.
constexpr double k16BitShare = 0.9, k16BitRound = 1.2e-6, k16BitCluster = 1.2e-6;
constexpr Seconds kDrawn{1.2e-6};

struct Rates {
  double sms, read, fma;  // per second; fma: instructions of one lane
  explicit Rates(const machine::Machine& m) : sms(m.sm_count), read(m.read_ceiling().per_second) {
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
  const double launch = context.machine.launch_time().value + kOneLaunch + fold_time(context.machine, problem.epilogue);
  // A stage of one block alone on an SM waits for its loads; blocks that share the SM hide that.
  const double stage = 32.0 * 32 * 64 / (r.fma / r.sms) * kSmallShare;
  const double compute =
      stages * std::max(kSmallStage, std::ceil(tiles / r.sms) * stage) + prologue_time(context, c, kSmallTile);
  const double bytes =
      elements_of(c.a, c.m, c) * bytes_of_element(c.a) + elements_of(c.b, c.n, c) * bytes_of_element(c.b);
  return cost_of(problem, s,
                 {launch, 0, compute,
                  (bytes + result_bytes(context.program, problem.product, problem.epilogue)) / (r.read * kReadShare)},
                 bytes);
}

Cost estimate_gemv(const Context& context, const Problem& problem, const Settings& s) {
  const Contraction& c = problem.product;
  const StreamPlan p = stream_plan(context, problem, s);
  const Rates r(context.machine);
  const double streamed = elements_of(p.streamed, p.rows, c), held = elements_of(p.held, p.columns, c);
  const double bytes = streamed * bytes_of_element(p.streamed) + held * bytes_of_element(p.held) +
                       result_bytes(context.program, problem.product, problem.epilogue);
  const double blocks = static_cast<double>(p.tiles * s.split);
  const double launch = context.machine.launch_time().value + kOneLaunch;
  const double narrow = size_of(p.streamed.dtype) >= 4 ? 1 : p.major == Major::kMN ? kGemvNarrowMN : kGemvNarrow;
  const double thin = std::max(1.0, 1.9 * r.sms / blocks);  // few blocks, few loads on their way
  // Every block computes the held lines.
  const double made = streamed * prologue_instructions(p.streamed) +
                      held * static_cast<double>(p.tiles) * prologue_instructions(p.held);
  const double memory = bytes / (r.read * kReadShare) * thin * narrow +
                        streamed * static_cast<double>(p.columns - 1) * kGemvMultiply / r.fma +
                        made / issue_rate(context.machine).value;
  return cost_of(problem, s, {launch, 0, 0, memory}, bytes);
}

Cost estimate_gemv_16_bit(const Context& context, const Problem& problem, const Settings& s) {
  const Contraction& c = problem.product;
  const StreamPlan p = stream_plan(context, problem, s);
  const GemvShape shape = gemv_shape(p, s);
  const double sms = context.machine.sm_count, blocks = static_cast<double>(p.tiles * s.split),
               rounds = std::max(1.0, blocks / sms);
  const double bytes = 2 * (elements_of(p.streamed, p.rows, c) + elements_of(p.held, p.columns, c)) +
                       result_bytes(context.program, problem.product, problem.epilogue);
  const Bytes in_flight(static_cast<double>(shape.warps * shape.ahead * shape.vectors() * 32 * 16));
  const double drawn = flow_time(context.machine, Bytes(bytes), std::min(sms, blocks), in_flight, kDrawn).value;
  const double launch = context.machine.launch_time().value + kOneLaunch + k16BitCluster * (s.split - 1);
  const double memory =
      std::max(bytes / (context.machine.read_ceiling().per_second * k16BitShare), drawn) + k16BitRound * rounds;
  return cost_of(problem, s, {launch, 0, 0, memory}, bytes);
}

}  // namespace solstice::families::gemm
