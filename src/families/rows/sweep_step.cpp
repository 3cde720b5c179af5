#include "families/rows/sweep_step.h"

#include <fmt/format.h>

#include <utility>

#include "families/reduction/row_access.h"
#include "families/walk.h"

namespace solstice::families::rows {

SweepStep::SweepStep(Draft& draft)
    : SweepStep(
          draft, [&draft](int depth) { bind_columns(draft.emitter, draft.shape, draft.settings.vector, depth); },
          [&draft](const std::string& text) {
            if (draft.settings.vector == 1) return "constexpr int lane = 0;\n" + text;
            return fmt::format("#pragma unroll\nfor (int lane = 0; lane < {}; ++lane) {{\n{}}}\n",
                               draft.settings.vector, text);
          }) {}

SweepStep::SweepStep(Draft& draft, BindVector bind_vector, LoopAround lanes)
    : draft_(draft), bind_vector_(std::move(bind_vector)), lanes_(std::move(lanes)) {}

Result<std::string> SweepStep::text(const Sweep& sweep,
                                    const std::function<Result<VectorText>(const std::vector<RowStore>&)>& write) {
  codegen::Emitter& emitter = draft_.emitter;
  const std::vector<codegen::Loop>& columns = draft_.shape.columns;
  const int vectors = emitter.push();
  bind_vector_(vectors);
  const codegen::Binding base = columns.empty() ? codegen::Binding{} : emitter.binding(columns.back().stepping());
  SOLSTICE_TRY(const std::vector<RowStore> stores, row_stores(draft_, sweep));
  const int lanes = emitter.push();
  scope_.emplace(SweepScope{sweep, vectors, lanes, base});
  bind_lanes(emitter, columns, draft_.settings.vector, lanes);
  SOLSTICE_TRY(const VectorText text, write(stores));
  const std::string inner = emitter.take(lanes) + text.lanes;
  emitter.pop();
  const std::string outer = emitter.take(vectors);
  emitter.pop();
  scope_.reset();
  return outer + text.before + lanes_(inner) + text.after;
}

}  // namespace solstice::families::rows
