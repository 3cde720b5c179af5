// Sizes with the dims that are sums and products of others written out, so that equal sizes have equal terms.
#pragma once

#include <map>
#include <set>

#include "import/shape/dims.h"

namespace solstice::importer {

class Expander {
 public:
  explicit Expander(const Dims& dims) : dims_(dims) {}

  Size expanded(const Size& given);

 private:
  const Size& of(DimId id);

  const Dims& dims_;
  std::map<DimId, Size> done_;
  std::set<DimId> path_;  // dims being written out; one that follows from itself stays
};

}  // namespace solstice::importer
