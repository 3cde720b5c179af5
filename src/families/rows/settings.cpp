#include "families/rows/settings.h"

#include "base/integer.h"
#include "families/reduction/reduction_text.h"

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

}  // namespace solstice::families::rows
