// Family `scan`: prefix reductions along an index (cumulative sums, products and extrema; exclusive, from the end,
// filtered) and linear recurrences of first order, with maps before and after, one read and one write. A row is held
// by some lanes of a warp or by a block, which walks it tile by tile; few, long rows are shared by all blocks; where
// neighbouring elements belong to different rows, threads hold columns.
//
// Cost model: launch + max(moving the data (time.h), instructions / issue rate).
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "families/emission.h"
#include "families/family.h"
#include "families/scan/emit.h"
#include "families/scan/moving_time.h"
#include "families/scan/thread_layout.h"
#include "families/usual_machine.h"

namespace solstice::families {
namespace scan {
namespace {

const std::vector<KnobSpec>& knobs() {
  static const std::vector<KnobSpec> specs = {
      {"threads", "int", {"128", "256", "512", "1024"}, "", "auto", "threads per block, the most that share a row"},
      {"items", "int", {"4", "8", "16", "32"}, "", "auto", "elements of a tile per thread"},
      {"vector",
       "int",
       {"1", "2", "4", "8"},
       "",
       "auto",
       "elements per vector access; auto: 16 bytes of the widest tensor"},
      {"sharing",
       "name",
       {"block", "grid"},
       "",
       "auto",
       "threads that share a row: those of a block, or of the whole grid; auto: grid if rows are few and long"},
      {"stages",
       "int",
       {"0", "2", "3", "4"},
       "",
       "auto",
       "stages of the shared-memory ring (tiles copied ahead); 0: tiles are loaded into registers"},
  };
  return specs;
}

Knobs knobs_of(const ir::Knobs& written) {
  const auto number = [&](const char* name) { return static_cast<int>(written.int_or(name, 0)); };
  const std::string sharing = written.name_or("sharing", "auto");
  return {number("threads"), number("vector"), number("items"),
          sharing == "grid"    ? Sharing::kGrid
          : sharing == "block" ? Sharing::kBlock
                               : Sharing::kAuto,
          static_cast<int>(written.int_or("stages", -1))};
}

Match match(const ir::Program& program, const ir::Kernel& kernel) {
  machine::Machine usual;
  usual.sm_count = kUsualSMs;
  auto shape = scheduled_shape_of(program, kernel, knobs_of(kernel.knobs), usual);
  if (!shape.ok() && !kernel.knobs.items.empty() && scheduled_shape_of(program, kernel, {}, usual).ok())
    return {true, "", true};  // `check` says why
  if (!shape.ok()) return match_of(shape);
  return match_of(emit_kernel(program, kernel, *shape));
}

void check(const Context& context, const ir::Kernel& kernel, Diagnostics& diagnostics) {
  const auto shape = scheduled_shape_of(context.program, kernel, knobs_of(kernel.knobs), context.machine);
  if (shape.ok() || shape.error().code == Code::not_yet) return;
  const Error& error = shape.error();
  diagnostics.error("E201", kernel.span, fmt::format("kernel `{}`: {}", kernel.name, error.message),
                    error.hint.empty() ? "leave the knob out, and the family chooses" : error.hint);
}

// Additions and shuffles of a scan, an element: its own, the second pass over the tile, and its share of its warp's. A
// grid scans its elements twice.
double scan_instructions(const Shape& shape) {
  const double of_warp = 12.0 / shape.nest.vector, alone = 2, again = shape.grid > 0 ? 3 : 0;
  return static_cast<double>(shape.prefixes.size()) * (again + (shape.by_columns ? alone : 2 + of_warp));
}

Result<Cost> cost_of(const Context& context, const Shape& shape) {
  SOLSTICE_CHECK(copy_rate(context.machine));
  Cost out;
  out.traffic = codegen::traffic_of(context.program, shape.nest.flat);
  const double instructions = instructions_of(shape.nest.flat) + scan_instructions(shape);
  out.work = Flops(instructions * static_cast<double>(shape.nest.points));
  const Seconds memory = moving_time(context.program, shape, context.machine);
  finish_cost(context.machine, memory, out.work / issue_rate(context.machine), out);
  out.form = shape.grid > 0 ? "grid" : shape.by_columns ? "columns" : shape.group <= kWarp ? "warp" : "block";
  return out;
}

Result<Cost> cost(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(const Shape shape, scheduled_shape_of(context.program, kernel, knobs_of(kernel.knobs), context.machine));
  return cost_of(context, shape);
}

Result<ir::Knobs> settle(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(const Shape shape, scheduled_shape_of(context.program, kernel, knobs_of(kernel.knobs), context.machine));
  ir::Knobs out;
  const auto set = [&](const char* name, int value) { out.set(name, ir::KnobValue::of_int(value)); };
  set("threads", shape.threads);
  set("items", shape.unroll * shape.nest.vector);
  set("vector", shape.nest.vector);
  out.set("sharing", ir::KnobValue::of_name(shape.grid > 0 ? "grid" : "block"));
  set("stages", shape.stages);
  return out;
}

// The settings that may be worth it, the family's own choice first.
std::vector<ir::Knobs> candidates() {
  std::vector<ir::Knobs> out(1);
  for (const auto& [threads, items] : {std::pair{512, 32}, {128, 8}, {512, 16}, {256, 32}, {128, 16}, {1024, 16}}) {
    ir::Knobs& knobs = out.emplace_back();
    knobs.set("threads", ir::KnobValue::of_int(threads));
    knobs.set("items", ir::KnobValue::of_int(items));
  }
  for (const auto& [sharing, threads, stages] :
       {std::tuple{"grid", 1024, -1}, {"grid", 512, -1}, {"block", 512, -1}, {"block", 0, 0}, {"block", 0, 2}}) {
    ir::Knobs& knobs = out.emplace_back();
    knobs.set("sharing", ir::KnobValue::of_name(sharing));
    if (threads > 0) knobs.set("threads", ir::KnobValue::of_int(threads));
    if (stages >= 0) knobs.set("stages", ir::KnobValue::of_int(stages));
  }
  return out;
}

Result<std::vector<Proposed>> propose(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(const Shape shape, shape_of(context.program, kernel));
  std::vector<Proposed> out;
  for (ir::Knobs& knobs : candidates()) {
    const Result<Shape> laid_out = scheduled(context.program, shape, knobs_of(knobs), context.machine);
    const bool own = knobs.items.empty();
    if (!laid_out.ok() && own) return laid_out.error();
    if (!laid_out.ok()) continue;
    SOLSTICE_TRY(const Cost cost, cost_of(context, *laid_out));
    out.push_back({std::move(knobs), cost.time});
  }
  return out;
}

// Blocks' offers begin as zeros in every call.
void add_offers(const ir::Kernel& kernel, int64_t offers, Emission& out) {
  constexpr int64_t kOffer = 16;  // bytes
  PlanBuffer buffer = workspace_buffer(part_name(kernel, "offers"), offers * kOffer);
  Step& launch = out.steps.front();
  launch.cooperative = true;
  launch.arguments.push_back(pointer_to(buffer.name));
  Step clear;
  clear.name = part_name(kernel, "clear");
  clear.kind = StepKind::kMemset;
  clear.phase = launch.phase;
  clear.buffer = buffer.name;
  clear.bytes = buffer.bytes;
  out.steps.insert(out.steps.begin(), std::move(clear));
  out.workspace.push_back(std::move(buffer));
}

Result<Emission> generate_marked(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(Shape shape, scheduled_shape_of(context.program, kernel, knobs_of(kernel.knobs), context.machine));
  SOLSTICE_TRY(const Text text, emit_kernel(context.program, kernel, shape));
  const LaunchShape launch{text.kernel.blocks, shape.threads, 1, text.shared_bytes};
  SOLSTICE_TRY(Emission out, one_launch(context.program, kernel, text.kernel.entry, text.kernel.code,
                                        text.kernel.parameters, launch));
  if (text.offers > 0) add_offers(kernel, text.offers, out);
  return out;
}

Result<Emission> generate(const Context& context, const ir::Kernel& kernel) {
  return unmarked(kernel, generate_marked(context, kernel));
}

}  // namespace
}  // namespace scan

extern const Family solstice_families_scan;
const Family solstice_families_scan = {
    .name = "scan",
    .help = "prefix sums, products and extrema along an index, and linear recurrences, with one read and one write",
    .available = true,
    .knobs = scan::knobs,
    .match = scan::match,
    .check = scan::check,
    .cost = scan::cost,
    .settle = scan::settle,
    .propose = scan::propose,
    .generate = scan::generate,
};

}  // namespace solstice::families
