#include "families/reduction/row_cost.h"

#include "families/emission.h"
#include "families/memory_time.h"
#include "families/reduction/phases.h"
#include "families/reduction/row_access.h"

namespace solstice::families::reduction {
namespace {

constexpr double kSweepInstructions = 4;  // of an element in each sweep: the loop, the kept value, the accumulator

}  // namespace

Bytes shared_by_rows(const ir::Program& program, const Shape& shape) {
  Bytes out;
  for (const codegen::Access& access : codegen::accesses_of(program, shape.flat)) {
    if (!access.read || !depends_on_any(access, shape.columns) || depends_on_any(access, shape.rows)) continue;
    out += Bytes(static_cast<double>(shape.column_count) *
                 size_of(program.tensor(access.tensor).dtype.value_or(DType::kF32)));
  }
  return out;
}

double instructions_of_row(const Shape& shape) {
  const auto columns = static_cast<double>(shape.column_count);
  const double loops = kSweepInstructions * static_cast<double>(phases_of(shape, true).sweeps.size()) * columns;
  return loops + instructions_of(shape.flat, [&](const ir::ExprRef& e) { return shape.along_row(e) ? columns : 1.0; });
}

}  // namespace solstice::families::reduction
