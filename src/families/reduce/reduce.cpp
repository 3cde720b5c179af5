// Family `reduce`: reductions over any axes, several in one pass, maps before and after them. Where the axis that
// stays is contiguous, runs of rows pass through shared memory whatever their alignment (layout.h). Where what is
// reduced is contiguous, the kernel is one of family `rows`; `reduce` is then another name of it. Sums of f32 are
// taken in doubles: one rounding.
//
// Cost model: launch + start + max(fill of the ring + data at the rate of DRAM or of the copies in flight, instructions
// / issue rate), and a second kernel where the reduced rows are split.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "families/emission.h"
#include "families/family.h"
#include "families/fold_text.h"
#include "families/memory_time.h"
#include "families/reduce/emit.h"
#include "families/reduction/phases.h"
#include "families/reduction/row_cost.h"

namespace solstice::families {
namespace reduce {
namespace {

const std::vector<KnobSpec>& knobs() {
  static const std::vector<KnobSpec> specs = {
      {"threads", "int", {"64", "128", "256", "512"}, "", "auto", "reducing threads per block; one more warp copies"},
      {"vector",
       "int",
       {"1", "2", "4", "8"},
       "",
       "auto",
       "columns per vector load; auto: 16 bytes if all columns are aligned"},
      {"columns", "int", {"1", "2", "4", "8"}, "", "auto", "columns per thread if `vector` is 1"},
      int_knob("rows", 1, 4096, "auto", "reduced rows per stage"),
      int_knob("stages", 2, 16, "auto", "stages of the shared-memory ring; auto: no ring if columns are aligned"),
      int_knob("split", 1, 4096, "auto",
               "split reduction: blocks that share the reduced rows; a second kernel combines their partial results"),
  };
  return specs;
}

// The same kernel as one of family `rows`, where what is reduced is contiguous; nothing: it is not.
Result<std::optional<ir::Kernel>> as_rows(const ir::Kernel& kernel, const reduction::Shape& shape) {
  if (shape.strided) return std::optional<ir::Kernel>();
  const reduction::Phases phases = reduction::phases_of(shape, true);
  for (const reduction::Sweep& sweep : phases.sweeps) {
    if (&sweep != &phases.sweeps.front() && !sweep.stores.empty()) {
      return fail(Code::illegal_knobs,
                  fmt::format("kernel `{}` stores elements that depend on their row's reductions: use family `rows`",
                              kernel.name));
    }
  }
  ir::Kernel out = kernel;
  out.family = "rows";
  out.knobs = {};
  for (const auto& [name, value] : kernel.knobs.items) {
    if (name != "threads" && name != "vector" && name != "split") {
      return fail(Code::illegal_knobs, fmt::format("`{}` is for reductions across the contiguous axis", name),
                  "legal here: `threads`, `vector`, `split`");
    }
    out.knobs.set(name == "split" ? "parts" : name, value);
  }
  return std::optional(std::move(out));
}

const Family& rows_family() { return *find_family("rows"); }

// A kernel of family `rows`, or this family's own with its layout.
struct Prepared {
  std::optional<ir::Kernel> row;
  reduction::Shape shape;
  Layout layout;
};

Result<Prepared> prepare(const ir::Program& program, const ir::Kernel& kernel, const machine::Machine* machine) {
  Prepared out;
  SOLSTICE_TRY(out.shape, reduction::shape_of(program, kernel));
  SOLSTICE_TRY(out.row, as_rows(kernel, out.shape));
  if (out.row) return out;
  SOLSTICE_TRY(out.layout, layout_of(program, out.shape, kernel.knobs, machine));
  return out;
}

Match match(const ir::Program& program, const ir::Kernel& kernel) {
  ir::Kernel plain = kernel;  // `check` says what is wrong with knobs
  plain.knobs = {};
  auto prepared = prepare(program, plain, nullptr);
  if (!prepared.ok()) return match_of(prepared);
  if (prepared->row) return rows_family().match(program, *prepared->row);
  return match_of(emit_kernel(program, plain, prepared->shape, prepared->layout));
}

void check(const Context& context, const ir::Kernel& kernel, Diagnostics& diagnostics) {
  const auto shape = reduction::shape_of(context.program, kernel);
  const auto row = shape.ok() ? as_rows(kernel, *shape) : Result<std::optional<ir::Kernel>>(shape.error());
  if (row.ok() && *row) return rows_family().check(context, **row, diagnostics);
  const auto prepared = prepare(context.program, kernel, &context.machine);
  if (row.ok() && (prepared.ok() || prepared.error().code == Code::not_yet)) return;
  const Error& error = row.ok() ? prepared.error() : row.error();
  diagnostics.error("E201", kernel.span, fmt::format("kernel `{}`: {}", kernel.name, error.message),
                    error.hint.empty() ? "leave the knob out, and the family chooses" : error.hint);
}

// Fitted to `bench families` on an H200: from the first copy to the first sums, and from the last copy to the results.
constexpr Seconds kRing{3.5e-6}, kLatency{1.0e-6};
constexpr double kEfficiency = 0.98;
// Without a ring: the first loads, and the fold of a block's warps; it reads faster than the machine files' ceiling, a
// sum.
constexpr Seconds kDirect{1.5e-6};
constexpr double kDirectEfficiency = 1.03;

Result<Cost> cost_of(const Context& context, const reduction::Shape& shape, const Layout& l) {
  const Moved moved = moved_by(context.program, shape.flat);
  SOLSTICE_TRY(const Seconds dram, dram_time(context.machine, moved));
  Cost out;
  out.traffic = moved.all();
  out.work = Flops(reduction::instructions_of_row(shape) * static_cast<double>(shape.row_count));
  const auto blocks = static_cast<double>(l.blocks());
  const double sms = std::clamp(blocks, 1.0, std::max(1.0, static_cast<double>(context.machine.sm_count)));
  const double resident = std::min(blocks / sms, double(l.resident_blocks(227 * 1024)));
  const Bytes in_flight(static_cast<double>(l.bytes_ahead()) * resident);
  const Seconds flow = flow_time(context.machine, moved.read, sms, in_flight, kLatency);
  const double idle = std::max(1.0, context.machine.sm_count / sms);
  finish_cost(
      context.machine,
      l.direct() ? kDirect + std::max(dram / kDirectEfficiency, flow) : kRing + std::max(dram / kEfficiency, flow),
      out.work / issue_rate(context.machine) * idle, out);
  if (l.split > 1) {
    out.time += kFold;
    out.terms.emplace_back("fold", kFold);
  }
  out.form = fmt::format("{}{}",
                         l.direct()       ? "registers"
                         : l.whole_rows() ? "whole rows"
                                          : "tiles",
                         l.split > 1 ? ", split" : "");
  return out;
}

Result<Cost> cost(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(const Prepared p, prepare(context.program, kernel, &context.machine));
  return p.row ? rows_family().cost(context, *p.row) : cost_of(context, p.shape, p.layout);
}

// The settings of `rows` under the knob names of this family; those without a name here are left out.
Result<ir::Knobs> settle_as_rows(const Context& context, const ir::Kernel& row) {
  SOLSTICE_TRY(const ir::Knobs knobs_of_rows, rows_family().settle(context, row));
  ir::Knobs out;
  for (const char* name : {"threads", "vector"}) {
    if (const ir::KnobValue* value = knobs_of_rows.find(name)) out.set(name, *value);
  }
  out.set("split", ir::KnobValue::of_int(knobs_of_rows.int_or("parts", 1)));
  return out;
}

Result<ir::Knobs> settle(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(const Prepared p, prepare(context.program, kernel, &context.machine));
  if (p.row) return settle_as_rows(context, *p.row);
  const Layout& l = p.layout;
  ir::Knobs out;
  const auto set = [&](const char* name, int value) { out.set(name, ir::KnobValue::of_int(value)); };
  set("threads", l.threads);
  set("vector", l.vector);
  if (l.vector == 1) set("columns", l.lanes);
  if (!l.direct()) set("rows", l.rows), set("stages", l.slots);
  set("split", l.split);
  return out;
}

Result<std::vector<Proposed>> propose(const Context& context, const ir::Kernel& kernel) {
  ir::Kernel plain = kernel;
  plain.knobs = {};
  SOLSTICE_TRY(const reduction::Shape shape, reduction::shape_of(context.program, plain));
  SOLSTICE_TRY(const std::optional<ir::Kernel> row, as_rows(plain, shape));
  if (row) {
    SOLSTICE_TRY(const Cost as_row, rows_family().cost(context, *row));
    return std::vector<Proposed>{{{}, as_row.time}};  // `rows` proposes the rest
  }
  std::vector<Proposed> found;
  const auto consider = [&](const std::vector<std::pair<const char*, int>>& values) {
    ir::Knobs knobs;
    for (const auto& [name, value] : values) knobs.set(name, ir::KnobValue::of_int(value));
    const Result<Layout> layout = layout_of(context.program, shape, knobs, &context.machine);
    if (!layout.ok()) return;
    const Result<Cost> time = cost_of(context, shape, *layout);
    if (time.ok()) found.push_back({std::move(knobs), time->time});
  };
  consider({});
  for (const int threads : {128, 512}) consider({{"threads", threads}});
  // Among equals wide tiles and four stages come first: 0.95 of a read for 0.91 to 0.93 (docs/measured/families.md).
  consider({{"threads", 512}, {"stages", 4}});
  for (const int threads : {128, 256, 512}) {
    for (const int stages : {3, 4, 6}) consider({{"threads", threads}, {"stages", stages}});
  }
  if (found.empty())
    return fail(Code::illegal_knobs, fmt::format("no layout of kernel `{}` fits this machine", kernel.name));
  std::stable_sort(found.begin(), found.end(), [](const Proposed& a, const Proposed& b) { return a.time < b.time; });
  std::vector<Proposed> out;
  for (Proposed& one : found) {
    const bool known = std::any_of(out.begin(), out.end(), [&](const Proposed& o) { return o.knobs == one.knobs; });
    if (!known) out.push_back(std::move(one));
  }
  return out;
}

Result<Emission> generate_marked(const Context& context, const ir::Kernel& kernel) {
  SOLSTICE_TRY(Prepared p, prepare(context.program, kernel, &context.machine));
  if (p.row) return rows_family().generate(context, *p.row);
  SOLSTICE_TRY(const Text text, emit_kernel(context.program, kernel, p.shape, p.layout));
  SOLSTICE_TRY(Emission out, one_launch(context.program, kernel, text.entry, text.code, text.parameters,
                                        {p.layout.blocks(), p.layout.block_threads(), 1, text.shared_bytes}));
  if (text.partials.empty()) return out;
  SOLSTICE_TRY(const FoldLaunch fold, emit_fold(context.program, kernel, p.shape, text.partials, p.layout));
  add_fold(context.program, kernel, fold, out);
  return out;
}

Result<Emission> generate(const Context& context, const ir::Kernel& kernel) {
  return unmarked(kernel, generate_marked(context, kernel));
}

}  // namespace
}  // namespace reduce

extern const Family solstice_families_reduce;
const Family solstice_families_reduce = {
    .name = "reduce",
    .help = "reductions over any axes with one read of the data: sums, extrema, arg-reductions, statistics, losses",
    .available = true,
    .knobs = reduce::knobs,
    .match = reduce::match,
    .check = reduce::check,
    .cost = reduce::cost,
    .settle = reduce::settle,
    .propose = reduce::propose,
    .generate = reduce::generate,
};

}  // namespace solstice::families
