// Trials that follow a refusal by the full verification: what a trial's few values let pass, other arithmetic may get
// right. They are few, so they need no policy of their own: one after the other, until one is usable.
#pragma once

#include "propose/expert.h"
#include "search/policy.h"
#include "search/search.h"

namespace solstice::flow {

class OtherArithmetic : public search::Policy, public search::Proposer {
 public:
  // `refused`: a trial that was wrong, in the tree as that. `expert` outlives this.
  OtherArithmetic(propose::Expert& expert, int refused) : expert_(expert), refused_(refused) {}

  Result<std::optional<search::Decision>> decide(const search::Tree& tree) override;
  Result<std::optional<search::Proposal>> propose(const search::Tree& tree, int node) override;

  // The trial that is right by its own measurement; nothing where there is none.
  std::optional<int> usable(const search::Tree& tree) const;

 private:
  propose::Expert& expert_;
  int refused_;
  size_t children_before_ = 0;  // of the refused trial
  bool begun_ = false, exhausted_ = false;
};

}  // namespace solstice::flow
