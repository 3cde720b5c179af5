#include "import/graph/well_formed.h"

#include <fmt/format.h>

#include <algorithm>

namespace solstice::importer {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 56;  // sums of sizes stay far below 64 bits

Status check(const GraphTensor& tensor, std::string_view what) {
  if (!tensor.is_tensor()) return success();
  if (!tensor.stride.empty() && tensor.stride.size() != tensor.shape.size()) {
    return fail(Code::bad_record, fmt::format("the graph is damaged: {} has {} extents and {} strides", what,
                                              tensor.shape.size(), tensor.stride.size()));
  }
  int64_t elements = 1;
  for (const int64_t extent : tensor.shape) {
    if (extent < 0 || (extent > 0 && elements > kMostElements / extent)) {
      return fail(Code::bad_record, fmt::format("the graph is damaged: {} has the extent {}", what, extent));
    }
    elements *= std::max<int64_t>(extent, 1);
  }
  return success();
}

// A tensor of the interface, whose layout is the caller's.
Status check_laid_out(const GraphTensor& tensor, std::string_view what) {
  SOLSTICE_CHECK(check(tensor, what));
  if (!tensor.is_tensor() || tensor.stride.size() == tensor.shape.size()) return success();
  return fail(Code::bad_record, fmt::format("the graph is damaged: {} has no strides", what));
}

}  // namespace

Status well_formed(const Graph& graph) {
  for (const GraphState& state : graph.state) SOLSTICE_CHECK(check_laid_out(state, "a parameter or buffer"));
  for (const GraphInput& input : graph.inputs) SOLSTICE_CHECK(check_laid_out(input, "an input"));
  for (const GraphNode& node : graph.nodes) {
    for (const auto& out : node.outs) {
      if (out) SOLSTICE_CHECK(check(*out, fmt::format("a result of `{}`", node.op)));
    }
  }
  return success();
}

}  // namespace solstice::importer
