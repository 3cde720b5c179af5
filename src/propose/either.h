// Two programs for one problem, as it was written and rewritten, each with a proposer of its own. Cost models say which
// opens; the other's first idea comes second, so that a measurement decides; then whoever made the fastest candidate goes on.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "search/search.h"

namespace solstice::propose {

class Either : public search::Proposer {
 public:
  // Labels name the equations of each ("rewritten by factor_sums", ""), and stand before its reasons.
  Either(std::unique_ptr<search::Proposer> first, std::string first_label, std::unique_ptr<search::Proposer> second,
         std::string second_label);
  Result<std::optional<search::Proposal>> propose(const search::Tree& tree) override;

 private:
  struct Side {
    std::unique_ptr<search::Proposer> proposer;
    std::string label;
    std::set<std::string> texts;  // of its proposals
  };
  Side& leading(const search::Tree& tree);
  Result<std::optional<search::Proposal>> ask(Side& side, const search::Tree& tree);

  Side first_, second_;
  int asked_ = 0;
};

}  // namespace solstice::propose
