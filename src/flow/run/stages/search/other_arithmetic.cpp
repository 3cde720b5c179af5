#include "flow/run/stages/search/other_arithmetic.h"

namespace solstice::flow {

Result<std::optional<search::Decision>> OtherArithmetic::decide(const search::Tree& tree) {
  if (!begun_) children_before_ = tree.node(refused_).children.size();
  begun_ = true;
  if (exhausted_ || tree.in_flight() > 0 || usable(tree)) return std::optional<search::Decision>();
  return std::optional(search::Decision{refused_});
}

Result<std::optional<search::Proposal>> OtherArithmetic::propose(const search::Tree& tree, int node) {
  SOLSTICE_TRY(std::optional<search::Proposal> out, expert_.more_exact(tree, node));
  exhausted_ = !out;
  return out;
}

std::optional<int> OtherArithmetic::usable(const search::Tree& tree) const {
  const std::vector<int>& children = tree.node(refused_).children;
  for (size_t i = children_before_; begun_ && i < children.size(); ++i) {
    if (tree.node(children[i]).usable()) return children[i];
  }
  return std::nullopt;
}

}  // namespace solstice::flow
