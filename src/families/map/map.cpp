// Family `map`: elementwise kernels of any rank. One thread takes 16-byte vectors, several in flight; reads that do not
// step with the output (broadcasts, gathers, transposes, tested reads) are loaded element by element from cache.
//
// Cost model: launch + max(bytes / copy ceiling / efficiency, instructions / issue rate). Efficiency is what narrow or
// unaligned accesses leave of the bus. Where it is poor: transposes, whose reads touch a sector for every element.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "families/emission.h"
#include "families/family.h"
#include "families/map/emit.h"
#include "families/map/nest.h"

namespace solstice::families {
namespace map {
namespace {

std::vector<KnobSpec> knobs() {
  return {
      {"threads", "int", {"128", "256", "512", "1024"}, "", "256", "threads a block"},
      {"vector", "int", {"1", "2", "4", "8", "16"}, "", "auto", "elements a thread takes at once; auto: 16 bytes of the smallest format"},
      {"unroll", "int", {"1", "2", "4", "8"}, "", "auto", "vectors a thread has in flight; auto: 16 bytes of loads"},
      streaming_knob("none"),
  };
}

Settings settings_of(const ir::Knobs& knobs) {
  Settings out;
  out.threads = static_cast<int>(knobs.int_or("threads", out.threads));
  out.vector = static_cast<int>(knobs.int_or("vector", 0));
  out.unroll = static_cast<int>(knobs.int_or("unroll", 0));
  out.streaming = streaming_of(knobs, out.streaming);
  return out;
}

Match match(const ir::Program& program, const ir::Kernel& kernel) {
  return match_of(make_nests(program, kernel, settings_of(kernel.knobs)));
}

// The share of the bus that this nest's accesses can use.
double efficiency_of(const ir::Program& program, const Nest& nest) {
  double worst = 1.0;
  for (const codegen::Access& access : codegen::accesses_of(program, nest.flat)) {
    if (nest.loops.empty() || !access.offset) continue;
    const int64_t step = access.offset->coefficient(nest.loops.back().stepping());
    const int bytes = size_of(program.tensor(access.tensor).dtype.value_or(DType::kF32));
    if (step > 1) worst = std::min(worst, std::max(0.25, 1.0 / static_cast<double>(step)));
    if (step == 1 && is_stream(nest, access) && nest.vector * bytes < 16) worst = std::min(worst, nest.vector * bytes < 8 ? 0.85 : 0.95);
    if (step == 1 && !is_stream(nest, access)) worst = std::min(worst, 0.7);
  }
  return worst;
}

Result<Cost> cost(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(const auto nests, make_nests(context.program, kernel, settings_of(kernel.knobs)));
  SOLSTICE_TRY(const BytesPerSecond copy, copy_rate(context.machine));
  Cost out;
  Seconds memory, issue;
  for (const Nest& nest : nests) {
    const Bytes bytes = codegen::traffic_of(context.program, nest.flat);
    const Flops work(instructions_of(nest.flat) * static_cast<double>(nest.points));
    out.traffic += bytes;
    out.work += work;
    memory += bytes / copy / efficiency_of(context.program, nest);
    issue += work / issue_rate(context.machine);
  }
  finish_cost(context.machine, memory, issue, out);
  const double worst = std::accumulate(nests.begin(), nests.end(), 1.0, [&](double least, const Nest& nest) {
    return std::min(least, efficiency_of(context.program, nest));
  });
  out.form = nests.size() > 1 ? "pieces" : worst < 0.8 ? "scattered reads" : "streams";
  return out;
}

Result<std::vector<ir::Knobs>> propose(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_CHECK(make_nests(context.program, kernel, Settings{}));
  std::vector<ir::Knobs> out(1);  // the family's own choice first
  for (const auto& [threads, unroll] : {std::pair{128, 2}, {128, 1}, {512, 1}, {256, 2}, {256, 4}}) {
    ir::Knobs candidate;
    candidate.set("threads", ir::KnobValue::of_int(threads));
    candidate.set("unroll", ir::KnobValue::of_int(unroll));
    out.push_back(std::move(candidate));
  }
  return out;
}

Result<Emission> generate(const Context& context, const ir::Kernel& kernel) {
  const Settings settings = settings_of(kernel.knobs);
  SOLSTICE_TRY(auto nests, make_nests(context.program, kernel, settings));
  SOLSTICE_TRY(const Text text, emit_kernel(context.program, kernel, nests, settings));
  LaunchShape shape;
  shape.blocks = text.blocks;
  shape.threads = settings.threads;
  return one_launch(context.program, kernel, text.entry, text.code, text.parameters, shape);
}

}  // namespace
}  // namespace map

extern const Family solstice_families_map;
const Family solstice_families_map = {
    .name = "map",
    .help = "elementwise equations of any rank: broadcasts, casts, gathers, pieces, short reductions; bound by memory",
    .available = true,
    .knobs = map::knobs,
    .match = map::match,
    .check = nullptr,
    .cost = map::cost,
    .propose = map::propose,
    .generate = map::generate,
};

}  // namespace solstice::families
