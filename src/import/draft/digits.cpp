#include "import/draft/digits.h"

namespace solstice::importer {

std::vector<Size> final_shape(const DraftTensor& tensor) {
  if (!tensor.is_merged) return tensor.shape;
  std::vector<Size> out;
  for (const auto& group : tensor.merged) {
    Size extent(1);
    for (const int dim : group) extent = extent * tensor.shape[static_cast<size_t>(dim)];
    out.push_back(extent);
  }
  return out;
}

std::vector<Index> final_indices(const DraftTensor& tensor, const std::vector<Index>& indices) {
  if (!tensor.is_merged) return indices;
  std::vector<Index> out;
  for (const auto& group : tensor.merged) {
    Index at(0);
    for (const int dim : group) {
      at = scale(at, tensor.shape[static_cast<size_t>(dim)]) + indices[static_cast<size_t>(dim)];
    }
    out.push_back(at);
  }
  return out;
}

}  // namespace solstice::importer
