// Names of an equation's indices: the loop's hint, else the index name of its dim, else a free letter. A reducer's
// index may reuse a name of the left side that does not occur under the reducer.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "import/draft/draft.h"
#include "import/text/shape_text.h"

namespace solstice::importer {

class LoopNames {
 public:
  LoopNames(const Dims& dims, const Names& names) : dims_(dims), names_(names) {}

  void name_left(const std::vector<Index>& indices);
  const std::vector<Loop>& left() const { return left_; }  // in order of first use
  const std::string& of(int loop) const { return chosen_.at(loop); }

  // Names the binders of a reducer; leave() after what stands under it is written.
  struct Scope {
    std::set<std::string> used, binders;
  };
  Scope enter(const Term& reducer);
  void leave(const Scope& outer);

 private:
  void choose(const Loop& loop, const std::set<std::string>& inside);

  const Dims& dims_;
  const Names& names_;
  std::vector<Loop> left_;
  std::map<int, std::string> chosen_;
  std::set<std::string> used_;     // by the left side and enclosing reducers
  std::set<std::string> binders_;  // of enclosing reducers
};

}  // namespace solstice::importer
