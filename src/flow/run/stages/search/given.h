// The first trial of a search whose problem came with a schedule: that.
#pragma once

#include <string>
#include <utility>

#include "search/policy.h"
#include "search/search.h"

namespace solstice::flow {

class Given : public search::Policy, public search::Proposer {
 public:
  explicit Given(std::string program) : program_(std::move(program)) {}

  Result<std::optional<search::Decision>> decide(const search::Tree& tree) override;
  Result<std::optional<search::Proposal>> propose(const search::Tree& tree, int node) override;

 private:
  std::string program_;
};

}  // namespace solstice::flow
