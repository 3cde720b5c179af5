#include "families/map/cost.h"

#include <algorithm>
#include <set>

#include "families/emission.h"
#include "families/memory_time.h"
#include "families/usual_machine.h"

namespace solstice::families::map {
namespace {

// Fitted to `bench families` on an H200.
constexpr Seconds kLatency{1.0e-6};  // of loads while the memory is busy
constexpr Seconds kStep{0.033e-6};   // a step of a reduction inside a thread: a load from L1 and what needs it
constexpr double kTransposed = 0.25, kStrided = 0.85;  // of the rate: reads of a sector for each element; dense steps
constexpr double kWindow = 0.7;                        // reads that step with the output inside a reduction
constexpr double kStepsAhead = 8;                      // of a reduction whose loads the compiler issues together

bool is_loop(const elementwise::Nest& nest, int index) {
  return std::any_of(nest.loops.begin(), nest.loops.end(), [&](const codegen::Loop& loop) {
    return std::find(loop.indices.begin(), loop.indices.end(), index) != loop.indices.end();
  });
}

// The share of what lies between neighbouring points of a stepping read that a thread reads itself.
double density_of(const elementwise::Nest& nest, const codegen::Access& access, int64_t step) {
  double read = 1;
  for (const auto& [id, coefficient] : access.offset->terms) {
    if (std::abs(coefficient) < step && !is_loop(nest, id))
      read *= static_cast<double>(nest.flat.indices.index(id).extent);
  }
  return std::min(1.0, read / static_cast<double>(step));
}

// The share of the bus that this nest's accesses can use.
double efficiency_of(const ir::Program& program, const elementwise::Nest& nest) {
  double worst = 1.0;
  for (const codegen::Access& access : codegen::accesses_of(program, nest.flat)) {
    if (nest.loops.empty() || !access.offset) continue;
    const int64_t step = access.offset->coefficient(nest.loops.back().stepping());
    if (step > 1) worst = std::min(worst, std::max(kTransposed, kStrided * density_of(nest, access, step)));
    if (step == 1 && !elementwise::is_stream(nest, access)) worst = std::min(worst, kWindow);
  }
  return worst;
}

// Steps of all reductions of a point, each distinct one once.
double steps_of(const elementwise::Nest& nest) {
  std::set<const ir::Expr*> seen;
  double sum = 0;
  // A reduction is computed for each point of those around it on which it depends.
  const auto visit = [&](const auto& self, const ir::ExprRef& e, std::vector<int> around) -> void {
    if (!seen.insert(e.get()).second) return;
    if (e->op == ir::Op::kReduce) {
      std::erase_if(around, [&](int binder) { return !codegen::depends_on(e, binder); });
      around.insert(around.end(), e->binders.begin(), e->binders.end());
      double trips = 1;
      for (const int binder : around) trips *= static_cast<double>(nest.flat.indices.index(binder).extent);
      sum += trips;
    }
    for (const ir::ExprRef& arg : e->args) self(self, arg, around);
  };
  for (const codegen::FlatEquation& equation : nest.flat.equations) visit(visit, equation.rhs, {});
  return sum;
}

// The rate at which a thread's own loads bring its data; of long reductions the chain of steps decides.
Seconds flow_of(const Context& context, const elementwise::Nest& nest, const elementwise::Settings& settings,
                Bytes read) {
  const double sms = std::max(1, context.machine.sm_count);
  const double steps = std::max(1.0, steps_of(nest));
  if (steps > kStepsAhead) return Seconds(0);
  const double unroll = elementwise::unroll_of(context.program, nest, settings);
  const double threads = std::max(1.0, static_cast<double>(nest.vectors()) / unroll);
  const double blocks = std::max(1.0, threads / settings.threads);
  const double resident = std::min(static_cast<double>(kThreadsOfSM), threads / std::min(sms, blocks));
  const Bytes ahead(resident * unroll * steps * std::max(4, elementwise::bytes_ahead(context.program, nest)));
  const Seconds all = flow_time(context.machine, read, std::min(sms, blocks), ahead, kLatency);
  return std::max(all - kLatency, Seconds(0));  // the first loads are part of the start
}

}  // namespace

Result<Cost> cost_of(const Context& context, const std::vector<elementwise::Nest>& nests,
                     const elementwise::Settings& settings) {
  SOLSTICE_TRY(const BytesPerSecond copy, copy_rate(context.machine));
  Cost out;
  Moved all;
  Seconds wasted, flow, issue, chain;
  double worst = 1;
  for (const elementwise::Nest& nest : nests) {
    const Moved moved = moved_by(context.program, nest.flat);
    const double efficiency = efficiency_of(context.program, nest);
    const Flops work(instructions_of(context.program, nest.flat) * static_cast<double>(nest.points));
    all.read += moved.read;
    all.written += moved.written;
    wasted += moved.all() / copy * (1 / efficiency - 1);
    flow += flow_of(context, nest, settings, moved.read);
    issue += work / issue_rate(context.machine);
    chain = std::max(chain,
                     kStep * (steps_of(nest) * nest.vector * elementwise::unroll_of(context.program, nest, settings)));
    worst = std::min(worst, efficiency);
    out.work += work;
  }
  SOLSTICE_TRY(const Seconds dram, dram_time(context.machine, all));
  out.traffic = all.all();
  finish_cost(context.machine, std::max({dram + wasted, flow, chain}), issue, out);
  out.form = nests.size() > 1 ? "pieces"
             : worst < 0.8    ? "scattered reads"
             : chain > dram   ? "serial reductions"
                              : "streams";
  return out;
}

}  // namespace solstice::families::map
