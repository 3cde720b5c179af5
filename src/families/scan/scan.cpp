// Family `scan`: prefix reductions along an index (cumulative sums, products and extrema; exclusive, from the end,
// filtered), with maps before and behind, one read and one write. A row is held by some lanes of a warp or by a block, which
// walks it tile by tile; where neighbouring elements belong to different rows, every thread walks rows of its own.
//
// Cost model: launch + max(traffic / copy ceiling / efficiency, instructions / issue rate). Efficiency is the share of the
// bus that rows' layouts reach (bench/rows_map), less when there are fewer blocks than SMs: a row is never shared by blocks.
#include <fmt/format.h>

#include <algorithm>

#include "families/emission.h"
#include "families/family.h"
#include "families/scan/emit.h"

namespace solstice::families {
namespace scan {
namespace {

std::vector<KnobSpec> knobs() {
  return {
      {"threads", "int", {"128", "256", "512", "1024"}, "", "auto", "threads a block; at most these share a row"},
      {"items", "int", {"4", "8", "16", "32"}, "", "auto", "elements a thread holds of a tile"},
      {"vector", "int", {"1", "2", "4", "8"}, "", "auto", "elements a thread takes at once; auto: 16 bytes where rows are aligned"},
  };
}

Knobs knobs_of(const ir::Kernel& kernel) {
  const auto number = [&](const char* name) { return static_cast<int>(kernel.knobs.int_or(name, 0)); };
  return {number("threads"), number("vector"), number("items")};
}

Result<Text> text_of(const ir::Program& program, const ir::Kernel& kernel) {
  SOLSTICE_TRY(Shape shape, shape_of(program, kernel, knobs_of(kernel)));
  return emit_kernel(program, kernel, shape);
}

Match match(const ir::Program& program, const ir::Kernel& kernel) { return match_of(text_of(program, kernel)); }

// Additions and shuffles of a scan, an element: its own, the second pass over the tile, and its share of its warp's.
double scan_instructions(const Shape& shape) {
  const double of_warp = 12.0 / shape.nest.vector, alone = 2;
  return static_cast<double>(shape.prefixes.size()) * (shape.by_columns ? alone : 2 + of_warp);
}

double efficiency_of(const Shape& shape, const machine::Machine& machine) {
  const double layout = shape.by_columns ? 0.82 : shape.nest.vector >= 4 ? 0.95 : shape.nest.vector == 2 ? 0.9 : 0.85;
  constexpr double kThreadsOfSM = 2048, kElement = 4, kEnough = 40 * 1024;  // bytes in flight that keep an SM's share of DRAM busy
  const double blocks = static_cast<double>(shape.blocks()) / std::max(machine.sm_count, 1);
  const double resident = std::clamp(blocks, 1.0, kThreadsOfSM / shape.threads);
  const double in_flight = resident * shape.threads * shape.unroll * shape.nest.vector * kElement;
  return layout * std::min(1.0, blocks) * std::min(1.0, in_flight / kEnough);
}

Result<Cost> cost(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(const Shape shape, shape_of(context.program, kernel, knobs_of(kernel)));
  SOLSTICE_TRY(const BytesPerSecond copy, copy_rate(context.machine));
  Cost out;
  out.traffic = codegen::traffic_of(context.program, shape.nest.flat);
  const double instructions = instructions_of(shape.nest.flat) + scan_instructions(shape);
  out.work = Flops(instructions * static_cast<double>(shape.nest.points));
  const Seconds memory = out.traffic / copy / efficiency_of(shape, context.machine);
  finish_cost(context.machine, memory, out.work / issue_rate(context.machine), out);
  out.form = shape.by_columns ? "columns" : shape.group <= kWarp ? "warp" : "block";
  return out;
}

Result<std::vector<ir::Knobs>> propose(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_CHECK(shape_of(context.program, kernel, {}));
  std::vector<ir::Knobs> out(1);  // the family's own choice first
  for (const auto& [threads, items] : {std::pair{128, 16}, {512, 16}, {256, 32}, {128, 32}, {256, 8}, {1024, 8}}) {
    ir::Knobs candidate;
    candidate.set("threads", ir::KnobValue::of_int(threads));
    candidate.set("items", ir::KnobValue::of_int(items));
    out.push_back(std::move(candidate));
  }
  return out;
}

Result<Emission> generate(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(Shape shape, shape_of(context.program, kernel, knobs_of(kernel)));
  SOLSTICE_TRY(const Text text, emit_kernel(context.program, kernel, shape));
  const LaunchShape launch{text.kernel.blocks, shape.threads, 1, text.shared_bytes};
  return one_launch(context.program, kernel, text.kernel.entry, text.kernel.code, text.kernel.parameters, launch);
}

}  // namespace
}  // namespace scan

extern const Family solstice_families_scan;
const Family solstice_families_scan = {
    .name = "scan",
    .help = "prefix sums, products and extrema along an index, with one read and one write",
    .available = true,
    .knobs = scan::knobs,
    .match = scan::match,
    .check = nullptr,
    .cost = scan::cost,
    .propose = scan::propose,
    .generate = scan::generate,
};

}  // namespace solstice::families
