// The nodes of a normal form: one reduction an equation, and what a kernel family would call it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/program.h"

namespace solstice::ir {

// A node of the normal form: an equation `out[free] = expr` or `out[free] = R[bound where C](expr)`.
struct NormalNode {
  int equation = -1;
  std::string anchor;  // gemm, grouped_gemm, conv, conv_transposed, conv_depthwise, rows, reduce, window, scan,
                       // recurrent, attention, scatter, rank, map
  std::vector<std::pair<std::string, std::string>> roles;  // by index: batch, m, n, k, window, reduced, free
};

namespace normal {

// Every reduction below another operation becomes an equation of its own, over exactly the indices it depends on; equal
// ones become one. Recurrences stay whole.
Program separated(const Program& program);

// Anchors by the table of docs/equivalence.md.
std::vector<NormalNode> recognised(const Program& nodes);

}  // namespace normal
}  // namespace solstice::ir
