#include "families/rows/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "families/emission.h"
#include "families/memory_time.h"
#include "families/reduction/row_cost.h"
#include "families/rows/online/legality.h"
#include "families/usual_machine.h"

namespace solstice::families::rows {
namespace {

// Fitted to `bench families` on an H200.
constexpr Seconds kLoadPhase{0.9e-6};  // of a block that holds its row: it loads, then reduces, then stores
constexpr Seconds kExchange{0.1e-6};   // a result of its threads,
constexpr Seconds kCluster{1.4e-6}, kClusterBlock{0.13e-6};  // and of a cluster's blocks
// Latency of loads in a loop that continues while they arrive, without its instructions: with few active SMs, and with
// all.
constexpr Seconds kLoopLoads{0.32e-6}, kLoopLoadsBusy{0.6e-6};
constexpr Seconds kMultiBlockStart{4e-6};  // a team's memory is cleared, and its ring filled
constexpr double kSharedReads =
    0.5;                         // of what rows share (weights): the part of their reads from L2 that nothing hides
constexpr double kStays = 0.25;  // of L2
constexpr double kOtherRegisters = 28, kRegisterFile = 256 * 1024, kSpilled = 0.65;  // of a thread; bytes of an SM
constexpr double kLoopSteps = 4;                                                     // steps of such a loop in flight
constexpr double kDependent = 3e-9;  // seconds an instruction of them, where few warps hide each other

// All of the row's data once, and once more for every sweep that reads it again.
Moved moved_of(const ir::Program& program, const Shape& shape, const Settings& s) {
  Moved out = moved_by(program, shape.flat);
  if (s.residency != Residency::kReload) return out;
  const Phases phases = phases_of(shape, false);
  for (size_t k = 1; k < phases.sweeps.size(); ++k) {
    for (const ir::ExprRef& read : phases.sweeps[k].reads) {
      out.read +=
          Bytes(static_cast<double>(shape.row_count * shape.column_count) * size_of(*program.tensor(read->id).dtype));
    }
  }
  return out;
}

// The share of a cluster's rate that remains where each thread also reads `weights`, values that rows share, for an
// element.
double rate_with_weights(const Settings& s, double weights) {
  const double each = s.vector == 1 ? 0.27 : s.cluster > 2 ? 0.045 : s.threads > 512 ? 0.03 : 0;
  return 1 / (1 + each * weights);
}

// Rows of clusters, by their blocks.
double efficiency_of_cluster(const Settings& s, double weights) {
  constexpr double kByVector[] = {0.865, 0.845, 0.77},
                   kByElement[] = {0.74, 0.83, 0.8};  // clusters of 2, of 4, larger ones
  const int size = s.cluster <= 2 ? 0 : s.cluster <= 4 ? 1 : 2;
  const double crowded = s.threads > 512 ? 0.97 : s.threads > 256 && s.cluster > 2 ? 0.96 : 1;
  return (s.vector == 1 ? kByElement : kByVector)[size] * crowded * rate_with_weights(s, weights);
}

// The share of the memory's rate that this layout reaches where all SMs are busy.
double efficiency_of(const ir::Program& program, const Shape& shape, const Settings& s) {
  if (s.residency == Residency::kOnline) return s.vector == 1 ? 0.9 : 0.95;
  const double weights =
      shared_by_rows(program, shape).value / (4.0 * static_cast<double>(std::max<int64_t>(1, shape.column_count)));
  double out = s.cluster > 1   ? efficiency_of_cluster(s, weights)
               : s.strided     ? 0.965
               : s.vector >= 4 ? 0.97
               : s.vector == 2 ? 0.93
                               : 0.9;
  // A block alone on its SM cannot overlap its loads with another's reductions; the more it holds the less that costs.
  const double held = static_cast<double>(resident_bytes(program, shape, s)) * s.threads;
  const bool alone = s.cluster == 1 && s.threads * s.blocks <= 1024 && s.threads >= 512 && s.blocks == 1;
  if (alone) out *= held < 96 * 1024 ? 0.87 : s.strided ? 0.85 : 0.93;
  if (s.residency == Residency::kShared && held > 48 * 1024) out *= 0.7;
  if (s.residency == Residency::kRegisters && held + kOtherRegisters * 4 * s.threads > kRegisterFile) out *= kSpilled;
  return out;
}

struct Spread {
  double sms = 1, resident = 1;  // SMs that have blocks, and how many each has at once
};

Spread spread_of(const Shape& shape, const Settings& s, const machine::Machine& machine) {
  const auto blocks = static_cast<double>(s.grid(shape));
  const double sms = std::clamp(blocks, 1.0, std::max(1.0, static_cast<double>(machine.sm_count)));
  return {sms, std::clamp(blocks / sms, 1.0, std::max(1.0, static_cast<double>(kThreadsOfSM / s.threads)))};
}

// The rate of the loads in flight on an SM: of a row that is held all of them, else some steps of the loop over it.
Seconds flow_of(const ir::Program& program, const Shape& shape, const Settings& s, const machine::Machine& machine,
                Bytes read, double instructions, double element) {
  const Spread spread = spread_of(shape, s, machine);
  const bool held = s.residency == Residency::kRegisters;
  const auto steps = static_cast<double>(s.steps(shape));
  const double looped = s.residency == Residency::kOnline ? vectors_in_flight(program, shape, s) : kLoopSteps;
  const double ahead = held ? steps : std::min(steps, looped);
  const double busy = spread.sms / std::max(1, machine.sm_count);
  const Seconds waits = held ? Seconds(0) : Seconds(ahead * s.vector * instructions * kDependent);
  const Seconds latency = kLoopLoads + (kLoopLoadsBusy - kLoopLoads) * busy + waits;
  return flow_time(machine, read, spread.sms, Bytes(spread.resident * s.threads * ahead * s.vector * element), latency);
}

// Blocks that hold their rows follow each other: what of their lives is waiting.
Seconds waits_of(const Shape& shape, const Settings& s, const machine::Machine& machine) {
  constexpr double kFew = 4;  // waves: of more the last one is shared out evenly
  const Spread spread = spread_of(shape, s, machine);
  double waves = static_cast<double>(s.grid(shape)) / (spread.sms * spread.resident), exchanges = 0;
  if (waves < kFew) waves = std::ceil(waves);
  for (const Sweep& sweep : phases_of(shape, true).sweeps) exchanges += !sweep.reductions.empty();
  const Seconds exchange = s.cluster > 1 ? kCluster + kClusterBlock * s.cluster : kExchange;
  return (kLoadPhase + exchange * exchanges) * waves;
}

std::string form_of(const Settings& s) {
  if (s.parts > 1) return "parts";
  if (s.residency == Residency::kOnline) return "once";
  const std::string place = s.residency == Residency::kRegisters ? "registers"
                            : s.residency == Residency::kShared  ? "shared"
                                                                 : "read again";
  return fmt::format("{}, {}",
                     s.strided          ? "columns"
                     : s.cluster > 1    ? "cluster"
                     : s.group <= kWarp ? "warp"
                                        : "block",
                     place);
}

}  // namespace

Result<Cost> cost_of(const Context& context, const Shape& shape, const Settings& s) {
  const machine::Machine& machine = context.machine;
  const double row = instructions_of_row(shape);
  const Moved moved = moved_of(context.program, shape, s);
  SOLSTICE_TRY(const Seconds dram, dram_time(machine, moved));
  Cost out;
  out.traffic = moved.all();
  out.work = Flops(row * static_cast<double>(shape.row_count));
  const double idle = std::max(1.0, machine.sm_count / spread_of(shape, s, machine).sms);
  const bool held = s.residency == Residency::kRegisters;
  const Seconds waits = held ? waits_of(shape, s, machine) : Seconds(0);
  const auto columns = static_cast<double>(shape.column_count);
  const Bytes once = moved_by(context.program, shape.flat).read;
  const double element = std::clamp(once.value / (columns * static_cast<double>(shape.row_count)), 1.0, 8.0);
  const Seconds flow = flow_of(context.program, shape, s, machine, moved.read, row / columns, element);
  const Seconds memory = std::max(dram / efficiency_of(context.program, shape, s), flow);
  finish_cost(machine, memory, waits + out.work / issue_rate(machine) * idle, out);
  if (s.parts > 1) {
    out.time += kFold;
    out.terms.emplace_back("fold", kFold);
  }
  out.form = form_of(s);
  return out;
}

Result<Cost> cost_of_multi_block(const Context& context, const Shape& shape, const MultiBlock& team) {
  SOLSTICE_TRY(const BytesPerSecond copy, copy_rate(context.machine));
  const BytesPerSecond l2(std::max(1.0, context.machine.l2_ceiling().per_second));
  Cost out;
  out.traffic = moved_by(context.program, shape.flat).all();
  out.work = Flops(instructions_of_row(shape) * static_cast<double>(shape.row_count));
  const Bytes shared = team.held.empty() ? shared_by_rows(context.program, shape) : Bytes(0);
  const bool stays = shared.value <= kStays * context.machine.l2.value;  // else rows drive it out of L2
  const Seconds again = shared * static_cast<double>(shape.row_count) / (stays ? l2 / kSharedReads : copy);
  const Seconds memory = team.time(shape, out.traffic, copy, context.machine.sm_count) + again;
  finish_cost(context.machine, memory, out.work / issue_rate(context.machine), out);
  out.time += kMultiBlockStart;
  out.terms.emplace_back("clear and fill", kMultiBlockStart);
  out.form = "team";
  return out;
}

}  // namespace solstice::families::rows
