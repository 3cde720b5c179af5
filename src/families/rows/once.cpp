#include "families/rows/once.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/integer.h"
#include "families/reduction/layout.h"
#include "families/rows/combine.h"
#include "families/rows/draft.h"
#include "families/rows/finding.h"
#include "families/rows/kept.h"
#include "families/rows/staging.h"
#include "families/rows/stores.h"
#include "families/rows/sweep_step.h"

namespace solstice::families::rows {
namespace {

using codegen::CType;
using codegen::Value;
using ir::ExprRef;

class OnceWriter {
 public:
  OnceWriter(const ir::Program& program, const ir::Kernel& kernel, Shape& shape, const Settings& settings)
      : kernel_(kernel),
        settings_(settings),
        draft_(program, shape, settings),
        kept_(draft_),
        staging_(draft_, kept_) {}

  Result<Text> write() {
    SOLSTICE_CHECK(found_.find());
    bind_rows(draft_.emitter, draft_.shape);
    draft_.emitter.set_hook([this](codegen::Emitter&, const ExprRef& node) { return given(node); });
    const EarlyReads early = early_reads_of(draft_.shape);
    SOLSTICE_CHECK(draft_.read_now(early.direct));
    const std::string direct = draft_.emitter.take(0);
    SOLSTICE_TRY(const std::string loop, loop_text());
    SOLSTICE_CHECK(draft_.read_now(early.gathers));  // behind the row's loads: they wait for what is read first
    const std::string gathers = draft_.emitter.take(0);
    SOLSTICE_TRY(const std::string joined, joined_text());
    SOLSTICE_TRY(const std::string outputs, row_output_text(draft_));
    return kernel_text(draft_, kernel_.name, direct + found_.state_text() + loop + gathers + joined + outputs, {},
                       combiner_.shared_bytes());
  }

 private:
  // Results of the row or of this thread, and the elements of the chunk.
  Result<std::optional<Value>> given(const ExprRef& node) {
    SOLSTICE_TRY(const std::optional<Value> seen, found_.seen(node));
    if (seen || !step_.scope()) return seen;
    if (const auto loaded = loaded_.find(node.get()); loaded != loaded_.end())
      return std::optional(staging_.loaded_lane(node, loaded->second + "[k]", *step_.scope()));
    return staging_.element(node, *step_.scope());
  }

  // A chunk at a time: its loads, what it adds to findings of the row's data alone, and to those around a center.
  Result<std::string> loop_text() {
    SOLSTICE_TRY(const std::string loads, loads_text());
    SOLSTICE_TRY(const std::string first, found_.first_text());
    const std::string counted =
        found_.counts() ? each_vector(fmt::format("{} += {};\n", found_.thread().elements, settings_.vector)) : "";
    SOLSTICE_TRY(const std::string centers, found_.centers_text("first == 0"));
    SOLSTICE_TRY(const std::string second, found_.second_text());
    const std::string once = draft_.emitter.take(0);
    return once + fmt::format("#pragma unroll 1\nfor (int first = 0; first < {}; first += {}) {{\n{}{}{}{}{}}}\n",
                              draft_.steps, at_once(), loads, first, counted, centers, second);
  }

  int at_once() const { return vectors_at_once(draft_.program, draft_.shape, settings_); }

  // `text` for each vector of a chunk, `c` in its row.
  std::string each_vector(const std::string& text) const {
    const bool wide = column_type(draft_.shape, settings_.vector) == CType::kI64;
    const int64_t threads = int64_t{settings_.group} * settings_.sharers();
    const bool whole = draft_.steps % at_once() == 0 && !settings_.ragged(draft_.shape);
    return fmt::format(
               "#pragma unroll\nfor (int k = 0; k < {0}; ++k) {{\n[[maybe_unused]] const {1} c = "
               "static_cast<{1}>(first + k) * {2} + position;\n",
               at_once(), wide ? "long long" : "int", threads) +
           (whole
                ? text
                : fmt::format("if (c < {}) {{\n{}}}\n", ceil_div(draft_.shape.column_count, settings_.vector), text)) +
           "}\n";
  }

  // What lies along the row is loaded for the whole chunk before the first of it is used.
  Result<std::string> loads_text() {
    codegen::Emitter& emitter = draft_.emitter;
    const int depth = emitter.push();
    bind_columns(emitter, draft_.shape, settings_.vector, depth);
    std::string arrays, loads;
    for (const codegen::Access& access : codegen::accesses_of(draft_.program, draft_.shape.flat)) {
      if (!access.read || !draft_.streams(access.read) || loaded_.count(access.read.get())) continue;
      emitter.note_read(access.tensor);
      SOLSTICE_TRY(const codegen::Emitter::Place at, emitter.place(draft_.program.tensor(access.tensor), access.args));
      if (at.inside) continue;
      const std::string name = fmt::format("x{}", emitter.fresh());
      arrays += fmt::format("{} {}[{}];\n", draft_.vector_type(draft_.storage(access.tensor)), name, at_once());
      loads += fmt::format("{}[k] = load<{}, {}>({} + {});\n", name, settings_.vector,
                           settings_.streaming.loads ? "kStream" : "kPlain", emitter.pointer_name(access.tensor),
                           at.offset.text);
      loaded_[access.read.get()] = name;
    }
    const std::string inner = emitter.take(depth);
    emitter.pop();
    return arrays + each_vector(inner + loads);
  }

  // From the threads' findings to the row's: those of its data alone, with them the centers, and then what was found
  // around others.
  Result<std::string> joined_text() {
    std::string out = joined_text(0, found_.firsts());
    found_.see(row_, found_.firsts(), 0);
    std::string corrections;
    for (const Corrected& c : found_.corrected()) {
      SOLSTICE_TRY(const Value center, draft_.emitter.emit(c.center));
      corrections += found_.correction_text(c, center.text);
    }
    out += draft_.emitter.take(0) + corrections + joined_text(found_.firsts(), found_.count());
    found_.see(row_, found_.count(), 0);
    return out;
  }

  // The row's findings [from, to).
  std::string joined_text(size_t from, size_t to) {
    std::vector<Joined> all;
    for (size_t i = from; i < to; ++i)
      all.push_back(
          {found_.total(i), found_.thread().of(i), fmt::format("const {} {}", found_.total(i).type, row_.of(i))});
    return combiner_.join(all);
  }

  const Holder row_{.name = "row", .elements = "", .whole_row = true};

  const ir::Kernel& kernel_;
  const Settings& settings_;
  Draft draft_;
  KeptValues kept_;
  Staging staging_;
  SweepStep step_{draft_};
  FindingText found_{draft_, step_, [this](const std::string& text) { return each_vector(text); }};
  std::map<const ir::Expr*, std::string> loaded_;  // arrays of the chunk's data
  Combiner combiner_{settings_};
};

}  // namespace

Status check_looked_at_once(const Shape& shape) {
  const auto refuse = [](const std::string& why) {
    return fail(Code::illegal_knobs, "`residency=once`: " + why + "; drop it");
  };
  if (shape.strided || shape.columns.empty()) return refuse("a row that is not contiguous in memory");
  const Phases phases = phases_of(shape, false);
  const bool stores =
      std::any_of(phases.sweeps.begin(), phases.sweeps.end(), [](const Sweep& s) { return !s.stores.empty(); });
  if (stores) return refuse("something is stored along the row, which is looked at again for that");
  if (phases.sweeps.size() == 1)
    return refuse("nothing of the row needs another result: it is looked at once as it is");
  const Result<Findings> findings = findings_of(shape, phases);
  return findings.ok() ? success() : Status(refuse(findings.error().message));
}

int vectors_at_once(const ir::Program& program, const Shape& shape, const Settings& settings) {
  std::set<const ir::Expr*> streams;
  for (const codegen::Access& access : codegen::accesses_of(program, shape.flat)) {
    if (access.read && is_stream(shape, access, settings.vector)) streams.insert(access.read.get());
  }
  return std::max(1, (settings.vector == 1 ? 8 : 4) / std::max(1, static_cast<int>(streams.size())));
}

Result<Text> emit_once(const ir::Program& program, const ir::Kernel& kernel, Shape& shape, const Settings& settings) {
  return OnceWriter(program, kernel, shape, settings).write();
}

}  // namespace solstice::families::rows
