#include "families/rows/ahead.h"

#include <fmt/format.h>

#include <algorithm>

#include "families/rows/layout.h"
#include "families/rows/loop.h"
#include "families/walk.h"

namespace solstice::families::rows {

Ahead::Ahead(const Draft& draft) {
  if (!draft.settings.ahead) return;
  for (const ir::ExprRef& read : draft.phases.sweeps.front().reads) {
    if (draft.streams(read) && !draft.reads.at(read.get()).tested) reads_.push_back(read);
  }
}

std::string Ahead::slot(const ir::ExprRef& read) const {
  const auto found = std::find(reads_.begin(), reads_.end(), read);
  return found == reads_.end() ? "" : fmt::format("s{}[k]", found - reads_.begin());
}

Result<std::string> Ahead::fetching(Draft& draft, int64_t& bytes) const {
  codegen::Emitter& emitter = draft.emitter;
  const Settings& s = draft.settings;
  const int rows = emitter.push();
  bind_loops(emitter, draft.shape.rows, emitter.variable(row_number_type(draft.shape), "next", rows, {0, draft.shape.row_count - 1}), 1,
             rows);
  const int columns = emitter.push();
  bind_columns(emitter, draft.shape, s.vector, columns);
  std::string slots, fetches;
  bytes = 0;
  for (size_t i = 0; i < reads_.size(); ++i) {
    const codegen::Access& access = draft.reads.at(reads_[i].get());
    emitter.note_read(access.tensor);
    SOLSTICE_TRY(const codegen::Emitter::Place at, emitter.place(draft.program.tensor(access.tensor), access.args));
    slots +=
        fmt::format("const scan::Slots<{}, {}> s{}(all + {});\n", draft.vector_type(draft.storage(access.tensor)), s.threads, i, bytes);
    fetches += fmt::format("scan::fetch(s{}[k], {} + {});\n", i, emitter.pointer_name(access.tensor), at.offset.text);
    bytes += draft.steps * s.threads * s.vector * size_of(*draft.program.tensor(access.tensor).dtype);
  }
  const std::string inner = emitter.take(columns);
  emitter.pop();
  const std::string outer = emitter.take(rows);
  emitter.pop();
  const LoopText loop = plain_loop(draft.shape, s);
  return emitter.take(0) + slots +
         fmt::format("const auto fetch_row = [&](const {} next) {{\n{}{}{}{}{}scan::sent();\n}};\n",
                     codegen::name_of(row_number_type(draft.shape)), outer, loop.head, inner, fetches, loop.tail);
}

int64_t ahead_slot_bytes(const ir::Program& program, const Shape& shape, const Settings& settings) {
  int64_t element = 0;
  const Phases phases = phases_of(shape, true);
  if (phases.sweeps.empty()) return 0;
  for (const ir::ExprRef& read : phases.sweeps.front().reads) element += size_of(program.tensor(read->id).dtype.value_or(DType::kF32));
  return element * settings.vector * settings.steps(shape);
}

}  // namespace solstice::families::rows
