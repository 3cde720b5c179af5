// Arithmetic of indices. Ranges of loops are used to simplify: (D*h+d) // D is h where d < D.
#pragma once

#include <cstdint>

#include "import/shape/expression.h"

namespace solstice::importer {

struct IndexRange {
  int64_t low = 0;
  int64_t high = 0;  // inclusive
};

Index index_of(const Loop& loop);
Index index_of(AtomRef atom);
Index index_of_read(TermRef read, int64_t extent);
Index operator+(const Index& a, const Index& b);
Index scale(const Index& a, const Size& factor);
Index floor_div(const Index& a, const Size& divisor, const Dims& dims);
Index modulo(const Index& a, const Size& divisor, const Dims& dims);
IndexRange range_of(const Index& index);

}  // namespace solstice::importer
