#include "import/interface/input_dims.h"

#include <set>

namespace solstice::importer {
namespace {

std::set<DimId> dims_of(const Draft& draft, bool (*wanted)(DraftKind)) {
  std::set<DimId> out;
  for (const DraftTensor& tensor : draft.tensors) {
    if (!wanted(tensor.kind)) continue;
    for (const Size& given : tensor.shape) {
      const Size extent = given.canonical(draft.dims());
      for (const auto& [product, coefficient] : extent.terms()) out.insert(product.begin(), product.end());
    }
  }
  return out;
}

// A sum of products is how extents are put together; anything else takes one apart.
bool is_difference(const Formula& formula, const Size& size) {
  if (formula.divisor != 1 || formula.plus != 0) return true;
  for (const auto& [product, coefficient] : size.terms()) {
    if (coefficient < 0) return true;
  }
  return false;
}

// W where the formula is W + c, else none.
std::optional<DimId> shifted_dim(const Dims& dims, const Formula& formula, const Size& size) {
  if (formula.divisor != 1) return std::nullopt;
  std::optional<DimId> out;
  for (const auto& [product, coefficient] : size.terms()) {
    if (product.empty()) continue;
    if (out || product.size() != 1 || coefficient != 1 || dims.formula(product[0])) return std::nullopt;
    out = product[0];
  }
  return out;
}

}  // namespace

void free_input_dims(Draft& draft) {
  Dims& dims = draft.dims();
  const std::set<DimId> inputs = dims_of(draft, [](DraftKind kind) { return kind == DraftKind::kInput; });
  const std::set<DimId> state =
      dims_of(draft, [](DraftKind kind) { return kind == DraftKind::kParam || kind == DraftKind::kBuffer; });
  for (const DimId id : inputs) {
    if (!dims.formula(id)) continue;
    const Formula formula = *dims.formula(id);
    const Size size = formula.size.canonical(dims);
    bool of_state = false;
    for (const auto& [product, coefficient] : size.terms()) {
      for (const DimId part : product) of_state = of_state || (state.count(part) && !inputs.count(part));
    }
    if (!of_state || !is_difference(formula, size)) continue;
    const std::optional<DimId> whole = shifted_dim(dims, formula, size);
    dims.drop_formula(id);
    if (whole) dims.derive(*whole, {dims.size(id) - (size - dims.size(*whole)) - Size(formula.plus), 1, 0});
  }
}

}  // namespace solstice::importer
