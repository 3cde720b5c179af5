#include "import/shape/expander.h"

namespace solstice::importer {

Size Expander::expanded(const Size& given) {
  Size out;
  const Size canonical = given.canonical(dims_);
  for (const auto& [product, coefficient] : canonical.terms()) {
    Size term(coefficient);
    for (const DimId id : product) term = term * of(id);
    out = out + term;
  }
  return out;
}

const Size& Expander::of(DimId id) {
  const auto known = done_.find(id);
  if (known != done_.end()) return known->second;
  const auto& formula = dims_.formula(id);
  const bool open = formula && formula->divisor == 1 && formula->plus == 0 && formula->size.value() == dims_.value(id);
  if (!open || !path_.insert(id).second) return done_.emplace(id, dims_.size(id)).first->second;
  Size size = expanded(formula->size);
  path_.erase(id);
  return done_.insert_or_assign(id, std::move(size)).first->second;
}

}  // namespace solstice::importer
