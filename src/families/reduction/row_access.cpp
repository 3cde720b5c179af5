#include "families/reduction/row_access.h"

#include "base/integer.h"
#include "families/walk.h"

namespace solstice::families::reduction {

using codegen::CType;
using codegen::Emitter;

bool is_run(const Shape& shape, const codegen::Access& access, size_t depth) {
  if (!access.offset || access.tested) return false;
  int64_t step = 1;
  for (auto loop = shape.columns.rbegin(); loop != shape.columns.rbegin() + static_cast<int>(depth); ++loop) {
    if (access.offset->coefficient(loop->stepping()) != step) return false;
    step *= loop->extent;
  }
  return true;
}

bool is_stream(const Shape& shape, const codegen::Access& access, int vector) {
  if (!access.offset || shape.columns.empty()) return false;
  const codegen::Loop& lane = shape.columns.back();
  const int64_t step = access.offset->coefficient(lane.stepping());
  if (step == 0 || (vector > 1 && step != 1)) return false;
  if (access.tested && access.depends_on(lane.stepping())) return false;
  return codegen::alignment_of(access, lane, vector) == vector;
}

void bind_rows(Emitter& emitter, const Shape& shape) {
  const CType type = shape.row_count > INT32_MAX / 2 ? CType::kI64 : CType::kI32;
  bind_loops(emitter, shape.rows, emitter.variable(type, "row", 0, {0, shape.row_count - 1}), 1, 0);
}

CType column_type(const Shape& shape, int vector) {
  return ceil_div(shape.column_count, vector) > INT32_MAX / 2 ? CType::kI64 : CType::kI32;
}

void bind_columns(Emitter& emitter, const Shape& shape, int vector, int depth) {
  const int64_t vectors = ceil_div(shape.column_count, vector);
  bind_loops(emitter, shape.columns, emitter.variable(column_type(shape, vector), "c", depth, {0, vectors - 1}), vector,
             depth);
}

}  // namespace solstice::families::reduction
