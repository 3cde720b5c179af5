#include "import/shape/expression.h"

namespace solstice::importer {

const Loop* Index::bare() const {
  if (terms.size() != 1 || !offset.is_zero() || terms[0].atom->kind != AtomKind::kLoop) return nullptr;
  return terms[0].coefficient.is_one() ? &terms[0].atom->loop : nullptr;
}

}  // namespace solstice::importer
