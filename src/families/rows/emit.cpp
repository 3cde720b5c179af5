#include "families/rows/emit.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "families/reduction/accumulate.h"
#include "families/reduction/row_access.h"
#include "families/rows/combine.h"
#include "families/rows/draft.h"
#include "families/rows/entry.h"
#include "families/rows/loop.h"
#include "families/rows/resident_values.h"
#include "families/rows/staging.h"
#include "families/rows/stores.h"
#include "families/rows/sweep_step.h"

namespace solstice::families::rows {
namespace {

using codegen::Emitter;
using codegen::Value;
using ir::ExprRef;
using ir::Op;

// f32 sums of more elements are taken in doubles: where elements cancel, PyTorch's order may come nearer to the true
// sum than any one order of ours. Conversions share a pipe with exponentials, so beside these only where a conversion
// serves a whole vector.
constexpr int64_t kLongSum = 512;

// A kernel is its sweeps one after the other, then the row's outputs.
class Writer {
 public:
  Writer(const ir::Program& program, const ir::Kernel& kernel, Shape& shape, const Settings& settings)
      : kernel_(kernel),
        draft_(program, shape, settings),
        resident_(draft_),
        staging_(draft_, resident_),
        step_(draft_),
        combiner_(settings) {}

  Result<KernelText> write() {
    bind_rows(draft_.emitter, draft_.shape);
    draft_.emitter.set_hook([this](Emitter&, const ExprRef& node) { return given(node); });
    const EarlyReads early = draft_.settings.parts > 1 ? EarlyReads{} : early_reads_of(draft_.shape);
    SOLSTICE_CHECK(draft_.read_now(early.direct));
    std::string body = draft_.emitter.take(0);
    gathers_ = early.gathers;
    for (const Sweep& sweep : draft_.phases.sweeps) {
      SOLSTICE_TRY(const std::string text, sweep_text(sweep));
      body += text;
    }
    SOLSTICE_TRY(const std::string outputs, outputs_text());
    int64_t shared = combiner_.shared_bytes();
    const std::string kept = resident_.declare(shared);
    return kernel_text(draft_, kernel_.name, kept + staging_.declarations() + body + outputs, partials_, shared);
  }

 private:
  // Values that the emitter does not compute itself: results of earlier sweeps, and the row's elements inside a sweep.
  Result<std::optional<Value>> given(const ExprRef& node) {
    if (node->op == Op::kReduce) {
      const auto found = results_.find(node.get());
      if (found == results_.end()) return fail(Code::internal, "a reduction is used before its sweep");
      return std::optional(found->second);
    }
    return step_.scope() ? staging_.element(node, *step_.scope()) : std::optional<Value>();
  }

  Result<std::string> sweep_text(const Sweep& sweep) {
    SOLSTICE_TRY(const std::string loads, staging_.load_ahead(sweep));
    SOLSTICE_CHECK(draft_.read_now(std::exchange(gathers_, {})));
    std::vector<Reduction> reductions;
    SOLSTICE_TRY(const std::string step, step_.text(sweep, [&](const std::vector<RowStore>& stores) {
      return vector_text(sweep, stores, reductions);
    }));
    const Shape& shape = draft_.shape;
    const Settings& s = draft_.settings;
    const LoopText loop = in_runs(shape, s, reductions) ? loop_in_runs(shape, s, reductions) : plain_loop(shape, s);
    const std::string once = draft_.emitter.take(0);
    note_results(sweep, reductions);
    return loads + once + open_accumulators(reductions, s.vector) + loop.head + step + loop.tail +
           combiner_.write(reductions);
  }

  void note_results(const Sweep& sweep, const std::vector<Reduction>& reductions) {
    for (size_t i = 0; i < reductions.size(); ++i) {
      const ExprRef& node = sweep.reductions[i];
      results_[node.get()] = draft_.emitter.variable(reductions[i].value_type, reductions[i].value(), 0);
      if (draft_.settings.parts > 1) partials_.push_back({node, reductions[i]});
    }
  }

  Result<VectorText> vector_text(const Sweep& sweep, const std::vector<RowStore>& stores,
                                 std::vector<Reduction>& reductions) {
    VectorText out;
    const bool wide = draft_.shape.column_count > kLongSum;
    for (const ExprRef& r : sweep.reductions) {
      const bool cheap = draft_.settings.vector > 1 || !is_costly(r->args[0]);
      SOLSTICE_TRY(Reduction reduction, begin_reduction(draft_.emitter, *r, wide && cheap));
      reductions.push_back(std::move(reduction));
    }
    const bool runs = in_runs(draft_.shape, draft_.settings, reductions);
    for (size_t i = 0; i < reductions.size(); ++i) out.lanes += accumulate(reductions[i], i, runs);
    out.before += open_vector(reductions);
    out.after += close_vector(reductions);
    for (const RowStore& store : stores) SOLSTICE_CHECK(write_store(draft_, store, out));
    for (const ExprRef& e : sweep.keeps) SOLSTICE_CHECK(resident_.write(draft_, e, out));
    return out;
  }

  Result<std::string> outputs_text() {
    if (draft_.settings.parts > 1 && !draft_.phases.row_outputs.empty())
      return partials_text(draft_.settings, partials_);
    return row_output_text(draft_);
  }

  const ir::Kernel& kernel_;
  Draft draft_;
  ResidentValues resident_;
  Staging staging_;
  SweepStep step_;
  Combiner combiner_;
  std::map<const ir::Expr*, Value> results_;  // of reductions
  std::vector<Partial> partials_;
  std::vector<ExprRef> gathers_;  // of EarlyReads, until they are written
};

}  // namespace

Result<KernelText> emit_kernel(const ir::Program& program, const ir::Kernel& kernel, Shape& shape,
                               const Settings& settings) {
  return Writer(program, kernel, shape, settings).write();
}

}  // namespace solstice::families::rows
