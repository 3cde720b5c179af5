// Writes the terms of a draft as μCUTLASS. Tensors and dims carry their names by now; the names of an equation's
// indices are chosen here: the loop's hint, else the index name of its dim, else a free letter. A reducer's index may
// reuse a name of the left side that does not occur under the reducer.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/import/draft.h"

namespace solstice::ir::importer {

struct Names {
  std::map<DimId, std::string> dims;                   // of representatives
  std::map<DimId, std::vector<std::string>> indices;   // usual indices of a dim, best first
  std::map<std::vector<DimId>, std::string> products;  // dims that are products of others
  std::set<std::string> taken;                         // names an index may not have: tensors and dims
};

// Shape and indices of a tensor with the digits of outputs merged.
std::vector<Size> final_shape(const DraftTensor& tensor);
std::vector<Index> final_indices(const DraftTensor& tensor, const std::vector<Index>& indices);

std::string size_text(const Size& size, const Names& names, const Dims& dims);
std::string shape_text(const DraftTensor& tensor, const Names& names, const Dims& dims);
std::string equation_text(const Draft& draft, const DraftEquation& equation, const Names& names);

}  // namespace solstice::ir::importer
