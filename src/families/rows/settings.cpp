#include "families/rows/settings.h"

#include <algorithm>

#include "base/integer.h"
#include "families/reduction/reduction_text.h"
#include "families/rows/residency.h"

namespace solstice::families::rows {

int64_t exchange_bytes(const Settings& s) {
  const bool shuffles = !s.strided && s.group <= kWarp && s.cluster == 1, alone = s.strided && s.group == 1;
  return shuffles || alone ? 0 : kLargestAccumulator * (s.strided ? s.threads : s.threads / kWarp * s.cluster);
}

int64_t Settings::steps(const Shape& shape) const {
  return ceil_div(ceil_div(shape.column_count, vector), int64_t{group} * sharers());
}

bool Settings::ragged(const Shape& shape) const {
  return shape.column_count % (int64_t{vector} * group * sharers()) != 0;
}

int64_t Settings::grid(const Shape& shape) const { return ceil_div(shape.row_count, rows_per_block()) * sharers(); }

int64_t resident_bytes(const ir::Program& program, const Shape& shape, const Settings& settings) {
  const Phases phases = phases_of(shape, true);
  int element = 4;
  for (const Sweep& sweep : phases.sweeps) {
    for (const ir::ExprRef& e : sweep.keeps) {
      element = std::max(element, element_bytes(program, e, e->op == ir::Op::kRead));
    }
  }
  return static_cast<int64_t>(phases.resident_at_once) * element * settings.vector * settings.steps(shape);
}

int64_t ahead_bytes(const ir::Program& program, const Shape& shape, const Settings& settings) {
  int64_t most = 0;
  for (const Sweep& sweep : phases_of(shape, true).sweeps) {
    int64_t element = 0;
    for (const ir::ExprRef& read : sweep.reads) {
      const bool kept = std::find(sweep.keeps.begin(), sweep.keeps.end(), read) != sweep.keeps.end();
      if (!kept) element += size_of(program.tensor(read->id).dtype.value_or(DType::kF32));
    }
    most = std::max(most, element);
  }
  return most * settings.vector * settings.steps(shape);
}

}  // namespace solstice::families::rows
