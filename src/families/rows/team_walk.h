// How the threads of a team's block walk over rows: the warp that copies parts into the ring, and the steps of the groups
// over the vectors x0[k], x1[k], ... that they hold of their part.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "families/rows/draft.h"
#include "families/rows/team.h"

namespace solstice::families::rows {

std::string_view row_type(const Shape& shape);
// The row's indices from the number `row`, in the scope `depth`.
void bind_row(Draft& draft, int depth);

class TeamWalk {
 public:
  TeamWalk(Draft& draft, const Team& team) : draft_(draft), team_(team) {}

  // What the copying warp does.
  Result<std::string> copying();
  // The step's text for every vector that is held: number `k` of the thread, `c` of the row.
  std::string held(const std::string& step) const;
  // The same for the first sweep, which takes the vectors out of the ring.
  Result<std::string> arriving(const std::string& step);
  std::string declarations() const;

 private:
  void bind_run(const std::string& name, int depth);
  std::string column() const;

  Draft& draft_;
  const Team& team_;
};

}  // namespace solstice::families::rows
