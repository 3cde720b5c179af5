// Family `rows`: maps and reductions along one axis (or several) with one read of the data: softmax, norms, row
// statistics, losses a row. A row is held by some lanes of a warp, a block or a cluster; its data stays in registers
// (or shared memory) between the sweeps that the reductions ask for. Rows whose elements lie far apart (an axis that is
// not innermost) are taken by columns of threads, so that neighbouring lanes read neighbouring addresses.
//
// Cost model: cost.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <tuple>

#include "families/emission.h"
#include "families/family.h"
#include "families/fold_text.h"
#include "families/reduction/row_cost.h"
#include "families/rows/choose.h"
#include "families/rows/cost.h"
#include "families/rows/emit.h"
#include "families/rows/fold.h"
#include "families/rows/multi_block/emit.h"
#include "families/rows/multi_block/plan.h"
#include "families/rows/online/emit.h"
#include "families/usual_machine.h"

namespace solstice::families {
namespace rows {
namespace {

const std::vector<KnobSpec>& knobs() {
  static const std::vector<KnobSpec> specs = {
      {"threads", "int", {"32", "64", "128", "256", "512", "1024"}, "", "auto", "threads a block"},
      {"rows_per_block", "int", {"1", "2", "4", "8", "16", "32", "64", "128", "256"}, "", "auto", "rows per block"},
      {"vector",
       "int",
       {"1", "2", "4", "8"},
       "",
       "auto",
       "elements per vector access; auto: 16 bytes if rows are aligned"},
      {"residency",
       "name",
       {"registers", "shared", "l2", "once"},
       "",
       "auto",
       "storage of a row between passes; l2: it is read again; once: a single pass with corrected partial "
       "results (online reduction)"},
      {"cluster",
       "int",
       {"1", "2", "4", "8", "16"},
       "",
       "auto",
       "blocks of a cluster that share a row; auto: 1 up to 32 Ki elements"},
      {"parts",
       "int",
       {"1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024"},
       "",
       "auto",
       "split reduction: blocks that share a row, whose partial results a second kernel combines; auto: fills "
       "the GPU if rows are few and long"},
      {"blocks", "int", {"1", "2", "3", "4", "6", "8"}, "", "auto", "fewest blocks per SM (__launch_bounds__)"},
      streaming_knob("none"),
      {"passes", "int", {"1", "2", "3"}, "", "auto", "passes over the data; more than 1 means residency=l2"},
      {"axis", "name", {}, "an index", "auto", "the reduced index, as documentation: the equations determine it"},
      int_knob(
          "team", 1, 1024, "auto",
          "blocks of a cooperative launch that share a row and exchange through global memory; each holds its part "
          "in shared memory; auto: for rows too long for a cluster; not with blocks or residency, at most 512 "
          "threads"),
      {"finish",
       "name",
       {"last_block"},
       "",
       "auto",
       "the last block to finish reduces over rows",
       0,
       0,
       {"last_block"}},
  };
  return specs;
}

ir::Knobs resolved(const ir::Knobs& knobs) {
  ir::Knobs out = knobs;
  if (knobs.int_or("passes", 1) > 1 && !knobs.find("residency")) out.set("residency", ir::KnobValue::of_name("l2"));
  return out;
}

// Elements: up to here a cluster is faster than a team; less where it would read its rows, and weights with them,
// element by element.
constexpr int64_t kLongRow = 128 * 1024, kLongRowByElement = 32 * 1024;
constexpr int64_t kShortRow = 4096;  // elements: up to here several rows to a block are worth a try

struct Layout {
  Settings settings;
  std::optional<MultiBlock> team;  // then `settings` do not count
};

struct Prepared {
  Shape shape;
  Layout layout;
};

// Several sweeps over long rows; a single one is better taken in parts.
bool wants_team(const ir::Program& program, const Shape& shape, const ir::Knobs& knobs,
                const Result<Settings>& settings) {
  for (const char* other : {"cluster", "parts", "rows_per_block", "residency", "blocks", "passes"}) {
    if (knobs.find(other)) return false;
  }
  if (settings.ok() && settings->residency == Residency::kOnline) return false;
  const bool by_element =
      settings.ok() && settings->cluster > 1 && settings->vector == 1 && shared_by_rows(program, shape).value > 0;
  return !shape.strided && shape.column_count > (by_element ? kLongRowByElement : kLongRow) &&
         phases_of(shape, false).sweeps.size() > 1;
}

Result<Layout> layout_for(const ir::Program& program, const Shape& shape, const ir::Knobs& written,
                          const machine::Machine* machine) {
  Layout out;
  const ir::Knobs knobs = resolved(written);
  const bool asked = knobs.find("team") != nullptr;
  Result<Settings> settings = settings_of(program, shape, knobs, machine);
  if (asked || wants_team(program, shape, knobs, settings)) {
    machine::Machine usual;
    usual.sm_count = kUsualSMs;
    Result<MultiBlock> team = multi_block_of(program, shape, knobs, machine ? *machine : usual);
    if (!team.ok() && asked) return team.error();
    if (team.ok()) {
      out.team = std::move(*team);
      return out;
    }
  }
  SOLSTICE_TRY(out.settings, std::move(settings));
  return out;
}

Result<Prepared> prepare(const ir::Program& program, const ir::Kernel& kernel, const machine::Machine* machine) {
  if (kernel.knobs.find("finish"))
    return fail(Code::not_yet,
                "finish=last_block is not built yet; write the reduction over rows as a kernel of its own");
  Prepared out;
  SOLSTICE_TRY(out.shape, shape_of(program, kernel));
  SOLSTICE_TRY(out.layout, layout_for(program, out.shape, kernel.knobs, machine));
  return out;
}

Result<KernelText> text_of(const ir::Program& program, const ir::Kernel& kernel, Prepared& p) {
  const Settings& settings = p.layout.settings;
  const bool once = settings.residency == Residency::kOnline;
  return once ? emit_online(program, kernel, p.shape, settings) : emit_kernel(program, kernel, p.shape, settings);
}

Match match(const ir::Program& program, const ir::Kernel& kernel) {
  auto prepared = prepare(program, kernel, nullptr);
  const bool knobs_alone =
      !prepared.ok() && prepared.error().code == Code::illegal_knobs && shape_of(program, kernel).ok();
  if (knobs_alone) return {true, "", true};  // `check` says what is wrong with them
  if (!prepared.ok()) return match_of(prepared);
  if (const auto& team = prepared->layout.team)
    return match_of(emit_multi_block(program, kernel, prepared->shape, *team));
  return match_of(text_of(program, kernel, *prepared));
}

void check(const Context& context, const ir::Kernel& kernel, Diagnostics& diagnostics) {
  const auto prepared = prepare(context.program, kernel, &context.machine);
  if (prepared.ok() || prepared.error().code == Code::not_yet) return;
  const Error& error = prepared.error();
  diagnostics.error("E201", kernel.span, fmt::format("kernel `{}`: {}", kernel.name, error.message),
                    error.hint.empty() ? "leave the knob out, and the family chooses" : error.hint);
}

Result<Cost> cost_of(const Context& context, const Shape& shape, const Layout& layout) {
  return layout.team ? cost_of_multi_block(context, shape, *layout.team) : cost_of(context, shape, layout.settings);
}

Result<Cost> cost(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(const Prepared p, prepare(context.program, kernel, &context.machine));
  return cost_of(context, p.shape, p.layout);
}

const char* residency_name(Residency residency) {
  constexpr std::array<const char*, 4> kNames = {"registers", "shared", "l2", "once"};
  return kNames[static_cast<size_t>(residency)];
}

Result<ir::Knobs> settle(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(const Prepared p, prepare(context.program, kernel, &context.machine));
  ir::Knobs out;
  const auto set = [&](const char* name, int value) { out.set(name, ir::KnobValue::of_int(value)); };
  const auto& [s, team] = p.layout;
  set("threads", team ? team->threads : s.threads);
  set("vector", team ? team->vector : s.vector);
  if (team) {
    set("team", team->blocks);
    return out;
  }
  const bool whole = s.cluster == 1 && s.parts == 1;
  if (whole && !s.strided) set("rows_per_block", s.rows_per_block());
  out.set("residency", ir::KnobValue::of_name(residency_name(s.residency)));
  if (s.cluster > 1) set("cluster", s.cluster);
  if (s.parts > 1) set("parts", s.parts);
  if (s.blocks > 1) set("blocks", s.blocks);
  return out;
}

// Two layouts of one kernel differ in it.
using LayoutKey = std::tuple<int, int, int, int, Residency, int, int>;
LayoutKey key_of(const Layout& layout) {
  const auto& [s, team] = layout;
  if (team) return {team->threads, 0, 0, 0, Residency::kShared, team->vector, team->blocks};
  return {s.threads, s.group, s.cluster, s.parts, s.residency, s.vector, 0};
}

Result<std::vector<Proposed>> propose(const Context& context, const ir::Kernel& kernel) {
  std::vector<Proposed> found;
  std::set<LayoutKey> layouts;
  SOLSTICE_TRY(const Shape shape, shape_of(context.program, kernel));
  const bool many_short = shape.column_count <= kShortRow && shape.row_count >= 4 * context.machine.sm_count;
  const auto consider = [&](std::vector<std::pair<const char*, int>> values, const char* residency = nullptr) {
    ir::Knobs knobs;
    if (residency) knobs.set("residency", ir::KnobValue::of_name(residency));
    for (const auto& [name, value] : values) knobs.set(name, ir::KnobValue::of_int(value));
    const Result<Layout> layout = layout_for(context.program, shape, knobs, &context.machine);
    if (!layout.ok() || !layouts.insert(key_of(*layout)).second) return;
    const Result<Cost> cost = cost_of(context, shape, *layout);
    if (cost.ok()) found.push_back({std::move(knobs), cost->time});
  };
  consider({});
  const bool once = can_be_online(shape);
  if (once) {
    for (const int threads : {128, 256, 512}) consider({{"threads", threads}}, "once");
  }
  for (const int team : {4, 6, 8, 11, 16, 22, 33, 44, 66, 132}) consider({{"team", team}});
  for (const int parts : {128, 256, 512, 1024}) consider({{"parts", parts}, {"threads", 512}});
  for (const int threads : {128, 256, 512, 1024}) {
    consider({{"threads", threads}});
    consider({{"threads", threads}, {"rows_per_block", 1}});
    if (many_short) {
      for (const int rows : {2, 4}) consider({{"threads", threads}, {"rows_per_block", rows}});
    }
    for (const int cluster : {2, 4, 8}) {
      consider({{"threads", threads}, {"cluster", cluster}});
      if (once) consider({{"threads", threads}, {"cluster", cluster}}, "registers");
    }
  }
  if (found.empty())
    return fail(Code::illegal_knobs, fmt::format("no layout of kernel `{}` fits this machine", kernel.name));
  // The family's own choice first: it was fitted to measurements that the model does not follow everywhere.
  const bool own = found.front().knobs.items.empty();
  std::stable_sort(found.begin() + (own ? 1 : 0), found.end(),
                   [](const Proposed& a, const Proposed& b) { return a.time < b.time; });
  return found;
}

Result<Emission> generate_marked(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(Prepared p, prepare(context.program, kernel, &context.machine));
  if (p.layout.team) return emit_multi_block(context.program, kernel, p.shape, *p.layout.team);
  const Settings& s = p.layout.settings;
  SOLSTICE_TRY(const KernelText text, text_of(context.program, kernel, p));
  SOLSTICE_TRY(Emission out, one_launch(context.program, kernel, text.entry, text.code, text.parameters,
                                        {text.blocks, s.threads, s.cluster, text.shared_bytes}));
  if (text.partials.empty()) return out;
  SOLSTICE_TRY(const FoldLaunch fold, emit_fold(context.program, kernel, p.shape, text.partials, s.parts));
  add_fold(context.program, kernel, fold, out);
  return out;
}

Result<Emission> generate(const Context& context, const ir::Kernel& kernel) {
  return unmarked(kernel, generate_marked(context, kernel));
}

}  // namespace
}  // namespace rows

extern const Family solstice_families_rows;
const Family solstice_families_rows = {
    .name = "rows",
    .help = "maps and reductions along an axis with one read of the data: softmax, norms, row statistics",
    .available = true,
    .knobs = rows::knobs,
    .match = rows::match,
    .check = rows::check,
    .cost = rows::cost,
    .settle = rows::settle,
    .propose = rows::propose,
    .generate = rows::generate,
};

}  // namespace solstice::families
