#include "families/rows/online/emit.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "base/integer.h"
#include "codegen/text/marks.h"
#include "families/reduction/row_access.h"
#include "families/rows/accumulators.h"
#include "families/rows/combine.h"
#include "families/rows/draft.h"
#include "families/rows/online/legality.h"
#include "families/rows/resident_values.h"
#include "families/rows/staging.h"
#include "families/rows/stores.h"
#include "families/rows/sweep_step.h"

namespace solstice::families::rows {
namespace {

using codegen::CType;
using codegen::Value;
using ir::ExprRef;

class OnlineWriter {
 public:
  OnlineWriter(const ir::Program& program, const ir::Kernel& kernel, Shape& shape, const Settings& settings)
      : kernel_(kernel),
        settings_(settings),
        draft_(program, shape, settings),
        resident_(draft_),
        staging_(draft_, resident_) {}

  Result<KernelText> write() {
    SOLSTICE_CHECK(accumulators_.find());
    bind_rows(draft_.emitter, draft_.shape);
    draft_.emitter.set_hook([this](codegen::Emitter&, const ExprRef& node) { return given(node); });
    const EarlyReads early = early_reads_of(draft_.shape);
    SOLSTICE_CHECK(draft_.read_now(early.direct));
    const std::string direct = draft_.emitter.take(0);
    SOLSTICE_TRY(const std::string loop, loop_text());
    SOLSTICE_CHECK(draft_.read_now(early.gathers));  // after the row's loads: they wait for the direct reads
    const std::string gathers = draft_.emitter.take(0);
    SOLSTICE_TRY(const std::string joined, joined_text());
    SOLSTICE_TRY(const std::string outputs, row_output_text(draft_));
    return kernel_text(draft_, kernel_.name, direct + accumulators_.state_text() + loop + gathers + joined + outputs,
                       {}, combiner_.shared_bytes());
  }

 private:
  // Results of the row or of this thread, and the elements of the chunk.
  Result<std::optional<Value>> given(const ExprRef& node) {
    SOLSTICE_TRY(const std::optional<Value> seen, accumulators_.seen(node));
    if (seen || !step_.scope()) return seen;
    if (const auto loaded = loaded_.find(node.get()); loaded != loaded_.end())
      return std::optional(staging_.loaded_lane(node, loaded->second + "[k]", *step_.scope()));
    return staging_.element(node, *step_.scope());
  }

  // A chunk at a time: its loads, its reductions of the row's data alone, and those around a center.
  Result<std::string> loop_text() {
    SOLSTICE_TRY(const std::string loads, loads_text());
    SOLSTICE_TRY(const std::string first, accumulators_.first_text());
    const std::string counted =
        accumulators_.counts()
            ? each_vector(fmt::format("{} += {};\n", accumulators_.thread().elements, settings_.vector))
            : "";
    SOLSTICE_TRY(const std::string centers, accumulators_.centers_text("first == 0"));
    SOLSTICE_TRY(const std::string second, accumulators_.second_text());
    const std::string once = draft_.emitter.take(0);
    return once + fmt::format("#pragma unroll 1\nfor (int first = 0; first < {}; first += {}) {{\n{}{}{}{}{}}}\n",
                              draft_.steps, at_once(), loads, first, counted, centers, second);
  }

  int at_once() const { return vectors_in_flight(draft_.program, draft_.shape, settings_); }

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

  // Data along the row are loaded for the whole chunk before the first use.
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
      loads += codegen::mark(emitter.indices().source_of(*access.read), "load") +
               fmt::format("{}[k] = load<{}, {}>({} + {});\n", name, settings_.vector,
                           settings_.streaming.loads ? "kStream" : "kPlain", emitter.pointer_name(access.tensor),
                           at.offset.text);
      loaded_[access.read.get()] = name;
    }
    const std::string inner = emitter.take(depth);
    emitter.pop();
    return arrays + each_vector(inner + loads);
  }

  // From the threads' accumulators to the row's: those of its data alone, with them the centers, and then those
  // around others.
  Result<std::string> joined_text() {
    std::string out = joined_text(0, accumulators_.firsts());
    accumulators_.see(row_, accumulators_.firsts(), 0);
    std::string corrections;
    for (const Corrected& c : accumulators_.corrected()) {
      SOLSTICE_TRY(const Value center, draft_.emitter.emit(c.center));
      corrections += accumulators_.correction_text(c, center.text);
    }
    out += draft_.emitter.take(0) + corrections + joined_text(accumulators_.firsts(), accumulators_.count());
    accumulators_.see(row_, accumulators_.count(), 0);
    return out;
  }

  // The row's results [from, to).
  std::string joined_text(size_t from, size_t to) {
    std::vector<Joined> all;
    for (size_t i = from; i < to; ++i)
      all.push_back({accumulators_.total(i), accumulators_.thread().of(i),
                     fmt::format("const {} {}", accumulators_.total(i).type, row_.of(i))});
    return combiner_.join(all);
  }

  const AccumulatorSet row_{.name = "row", .elements = "", .whole_row = true};

  const ir::Kernel& kernel_;
  const Settings& settings_;
  Draft draft_;
  ResidentValues resident_;
  Staging staging_;
  SweepStep step_{draft_};
  AccumulatorText accumulators_{draft_, step_, [this](const std::string& text) { return each_vector(text); }};
  std::map<const ir::Expr*, std::string> loaded_;  // arrays of the chunk's data
  Combiner combiner_{settings_};
};

}  // namespace

Result<KernelText> emit_online(const ir::Program& program, const ir::Kernel& kernel, Shape& shape,
                               const Settings& settings) {
  return OnlineWriter(program, kernel, shape, settings).write();
}

}  // namespace solstice::families::rows
