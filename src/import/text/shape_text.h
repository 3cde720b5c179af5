// Sizes and shapes of a draft as μCUTLASS, by the names that its dims have by now.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "import/draft/draft.h"

namespace solstice::importer {

struct Names {
  std::map<DimId, std::string> dims;                  // of representatives
  std::map<DimId, std::vector<std::string>> indices;  // usual indices of a dim, best first
  std::map<std::vector<DimId>, DimId> products;       // dims that are products of others
  std::set<std::string> taken;                        // names an index may not have: tensors and dims
  mutable std::set<DimId> printed;                    // dims that size_text has written
};

std::string size_text(const Size& size, const Names& names, const Dims& dims);
// "(H-1)//2+1"
std::string formula_text(const Formula& formula, const Names& names, const Dims& dims);
std::string shape_text(const DraftTensor& tensor, const Names& names, const Dims& dims);

}  // namespace solstice::importer
