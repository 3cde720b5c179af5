// The expert beside a language model: it tunes what the model writes. Like each of them it goes by the tree alone.
#pragma once

#include "propose/expert.h"
#include "search/search.h"

namespace solstice::flow {

// A program that the model wrote and that works, and what the expert made of it, get up to `most` trials of the expert
// in all, before the model is asked from one of them again. Where the expert expects no gain, the model is asked at
// once.
class Tuned : public search::Proposer {
 public:
  // Both outlive it.
  Tuned(propose::Expert& expert, search::Proposer& model, int most) : expert_(expert), model_(model), most_(most) {}
  Result<std::optional<search::Proposal>> propose(const search::Tree& tree, int node) override;

 private:
  propose::Expert& expert_;
  search::Proposer& model_;
  const int most_;
};

}  // namespace solstice::flow
