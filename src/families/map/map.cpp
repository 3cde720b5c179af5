// Family `map`: elementwise kernels of any rank. One thread takes 16-byte vectors, several in flight; reads that do not
// step with the output (broadcasts, gathers, transposes, tested reads) are loaded element by element from cache.
//
// Cost model: cost.h.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "families/elementwise/stack.h"
#include "families/emission.h"
#include "families/family.h"
#include "families/map/cost.h"
#include "families/map/emit.h"
#include "families/map/nests.h"

namespace solstice::families {
namespace map {
namespace {

const std::vector<KnobSpec>& knobs() {
  static const std::vector<KnobSpec> specs = {
      {"threads", "int", {"128", "256", "512", "1024"}, "", "128", "threads a block"},
      {"vector",
       "int",
       {"1", "2", "4", "8", "16"},
       "",
       "auto",
       "elements per vector access; auto: 16 bytes of the smallest format, or of a wider one that is stored"},
      {"unroll", "int", {"1", "2", "4", "8"}, "", "auto", "vectors in flight per thread; auto: 16 bytes of loads"},
      {"rows",
       "int",
       {"1", "2", "3", "4", "5", "6", "8", "10"},
       "",
       "1",
       "register blocking along an outer index: results per thread that load their overlapping windows once; "
       "divides its extent"},
      streaming_knob("none"),
  };
  return specs;
}

elementwise::Settings settings_of(const ir::Knobs& knobs) {
  elementwise::Settings out;
  out.threads = static_cast<int>(knobs.int_or("threads", out.threads));
  out.vector = static_cast<int>(knobs.int_or("vector", 0));
  out.unroll = static_cast<int>(knobs.int_or("unroll", 0));
  out.rows = static_cast<int>(knobs.int_or("rows", 1));
  out.streaming = streaming_of(knobs, out.streaming);
  return out;
}

Match match(const ir::Program& program, const ir::Kernel& kernel) {
  return match_of(make_nests(program, kernel, settings_of(kernel.knobs)));
}

Result<Cost> cost(const Context& context, const ir::Kernel& kernel) {
  const elementwise::Settings settings = settings_of(kernel.knobs);
  SOLSTICE_TRY(const auto nests, make_nests(context.program, kernel, settings));
  return cost_of(context, nests, settings);
}

Result<ir::Knobs> settle(const Context& context, const ir::Kernel& kernel) {
  const elementwise::Settings settings = settings_of(kernel.knobs);
  SOLSTICE_TRY(const auto nests, make_nests(context.program, kernel, settings));
  ir::Knobs out;
  out.set("threads", ir::KnobValue::of_int(settings.threads));
  const auto unroll = [&](const elementwise::Nest& nest) {
    return elementwise::unroll_of(context.program, nest, settings);
  };
  const elementwise::Nest& first = nests.front();
  const auto all = [&](const auto& alike) { return std::all_of(nests.begin(), nests.end(), alike); };
  if (all([&](const elementwise::Nest& nest) { return nest.vector == first.vector; }))
    out.set("vector", ir::KnobValue::of_int(first.vector));
  if (all([&](const elementwise::Nest& nest) { return unroll(nest) == unroll(first); }))
    out.set("unroll", ir::KnobValue::of_int(unroll(first)));
  out.set("rows", ir::KnobValue::of_int(settings.rows));
  return out;
}

// True if neighbouring elements read data that lie apart, so that several a thread set those of neighbouring threads
// further apart (max pooling of 16 x 32 x 128^3 by 3 with step 2 on an H200: 2.04 ms by twos, 1.36 ms one by one; a
// depthwise convolution by 3 x 3 with step 1: 0.85 ms by twos, 1.02 ms one by one).
bool strides(const Context& context, const std::vector<elementwise::Nest>& nests) {
  return std::any_of(nests.begin(), nests.end(), [&](const elementwise::Nest& nest) {
    if (nest.vector == 1 || nest.loops.empty()) return false;
    const std::vector<codegen::Access> accesses = codegen::accesses_of(context.program, nest.flat);
    return std::any_of(accesses.begin(), accesses.end(), [&](const codegen::Access& access) {
      return access.read && access.offset && access.offset->coefficient(nest.loops.back().stepping()) > 1;
    });
  });
}

ir::Knobs setting(int threads, int vector, int unroll) {
  ir::Knobs out;
  out.set("threads", ir::KnobValue::of_int(threads));
  if (vector > 0) out.set("vector", ir::KnobValue::of_int(vector));
  out.set("unroll", ir::KnobValue::of_int(unroll));
  return out;
}

// Rows that windows which overlap along an outer index may be taken together: the three largest, since registers set
// the limit (a depthwise convolution by 3 x 3 of 16 x 64 x 512^2 on an H200: 850 us by 1, 629 by 2, 609 by 3, 584 by 5,
// 564 by 10).
std::vector<int> rows_together(const Context& context, const codegen::FlatKernel& flat) {
  constexpr size_t kMost = 3;
  const std::vector<int> along = elementwise::overlapping(context.program, flat);
  std::vector<int> out;
  for (const int rows : {10, 8, 6, 5, 4, 3, 2}) {
    const bool all = std::all_of(along.begin(), along.end(),
                                 [&](int id) { return id >= 0 && flat.indices.index(id).extent % rows == 0; });
    if (all && out.size() < kMost) out.push_back(rows);
  }
  return out;
}

// The settings that may be worth it, in no order; among equals the family's own choice comes first.
std::vector<ir::Knobs> candidates(const Context& context, const codegen::FlatKernel& flat,
                                  const std::vector<elementwise::Nest>& usual) {
  std::vector<ir::Knobs> settings = {{}};
  for (const int rows : rows_together(context, flat)) {
    settings.push_back(setting(256, 0, 1));
    settings.back().set("rows", ir::KnobValue::of_int(rows));
  }
  if (strides(context, usual)) {
    for (const auto& [threads, unroll] : {std::pair{128, 2}, {256, 1}, {512, 1}})
      settings.push_back(setting(threads, 1, unroll));
  }
  for (const auto& [threads, unroll] : {std::pair{128, 2}, {256, 1}, {256, 2}, {512, 1}, {256, 4}}) {
    settings.push_back(setting(threads, 0, unroll));
  }
  return settings;
}

Result<std::vector<Proposed>> propose(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(const codegen::FlatKernel flat, codegen::flatten(context.program, kernel));
  SOLSTICE_TRY(auto usual, make_nests(context.program, flat, elementwise::Settings{}));
  const std::vector<ir::Knobs> settings = candidates(context, flat, usual);
  std::map<std::pair<int, int>, std::vector<elementwise::Nest>> nests;  // by rows and vector, their only knobs
  nests.emplace(std::pair(1, 0), std::move(usual));
  std::vector<Proposed> out;
  for (const ir::Knobs& knobs : settings) {
    const elementwise::Settings each = settings_of(knobs);
    auto found = nests.find({each.rows, each.vector});
    if (found == nests.end()) {
      SOLSTICE_TRY(auto made, make_nests(context.program, flat, each));
      found = nests.emplace(std::pair(each.rows, each.vector), std::move(made)).first;
    }
    SOLSTICE_TRY(const Cost cost, cost_of(context, found->second, each));
    out.push_back({knobs, cost.time});
  }
  std::stable_sort(out.begin(), out.end(), [](const Proposed& a, const Proposed& b) { return a.time < b.time; });
  return out;
}

Result<Emission> generate_marked(const Context& context, const ir::Kernel& kernel) {
  const elementwise::Settings settings = settings_of(kernel.knobs);
  SOLSTICE_TRY(auto nests, make_nests(context.program, kernel, settings));
  SOLSTICE_TRY(const elementwise::KernelText text, emit_kernel(context.program, kernel, nests, settings));
  LaunchShape shape;
  shape.blocks = text.blocks;
  shape.threads = settings.threads;
  return one_launch(context.program, kernel, text.entry, text.code, text.parameters, shape);
}

Result<Emission> generate(const Context& context, const ir::Kernel& kernel) {
  return unmarked(kernel, generate_marked(context, kernel));
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
    .settle = map::settle,
    .propose = map::propose,
    .generate = map::generate,
};

}  // namespace solstice::families
