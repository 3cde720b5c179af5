#include "flow/run/stages/search/given.h"

namespace solstice::flow {

Result<std::optional<search::Decision>> Given::decide(const search::Tree& tree) {
  if (tree.trials() > 0) return std::optional<search::Decision>();
  return std::optional(search::Decision{0});
}

Result<std::optional<search::Proposal>> Given::propose(const search::Tree&, int) {
  search::Proposal out;
  out.program = program_;
  out.reason = "the given schedule";
  return std::optional(std::move(out));
}

}  // namespace solstice::flow
