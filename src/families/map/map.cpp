// Family `map`: elementwise kernels of any rank. One thread takes 16-byte vectors, several in flight; reads that do not
// step with the output (broadcasts, gathers, transposes, tested reads) are loaded element by element from cache.
//
// Cost model: cost.h.
#include <fmt/format.h>

#include <algorithm>

#include "families/emission.h"
#include "families/family.h"
#include "families/map/cost.h"
#include "families/map/emit.h"
#include "families/map/nest.h"

namespace solstice::families {
namespace map {
namespace {

std::vector<KnobSpec> knobs() {
  return {
      {"threads", "int", {"128", "256", "512", "1024"}, "", "128", "threads a block"},
      {"vector",
       "int",
       {"1", "2", "4", "8", "16"},
       "",
       "auto",
       "elements a thread takes at once; auto: 16 bytes of the smallest format, or of a wider one that is stored"},
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

Result<Cost> cost(const Context& context, const ir::Kernel& kernel) {
  const Settings settings = settings_of(kernel.knobs);
  SOLSTICE_TRY(const auto nests, make_nests(context.program, kernel, settings));
  return cost_of(context, nests, settings);
}

Result<std::vector<ir::Knobs>> propose(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(const auto nests, make_nests(context.program, kernel, Settings{}));
  std::vector<std::pair<Seconds, ir::Knobs>> found;
  const auto consider = [&](const ir::Knobs& knobs) -> Status {
    SOLSTICE_TRY(const Cost found_cost, cost_of(context, nests, settings_of(knobs)));
    found.emplace_back(found_cost.time, knobs);
    return success();
  };
  SOLSTICE_CHECK(consider({}));  // among equals the family's own choice comes first
  for (const auto& [threads, unroll] : {std::pair{128, 2}, {256, 1}, {256, 2}, {512, 1}, {256, 4}}) {
    ir::Knobs candidate;
    candidate.set("threads", ir::KnobValue::of_int(threads));
    candidate.set("unroll", ir::KnobValue::of_int(unroll));
    SOLSTICE_CHECK(consider(candidate));
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ir::Knobs> out;
  for (auto& [time, knobs_set] : found) out.push_back(std::move(knobs_set));
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
