#include "propose/either.h"

#include <algorithm>
#include <utility>

namespace solstice::propose {

Either::Either(std::unique_ptr<search::Proposer> first, std::string first_label, std::unique_ptr<search::Proposer> second,
               std::string second_label)
    : first_{std::move(first), std::move(first_label), {}}, second_{std::move(second), std::move(second_label), {}} {}

// Where nothing is usable yet, the second one as soon as a candidate of the first has failed.
Either::Side& Either::leading(const search::Tree& tree) {
  if (const search::Node* best = tree.best()) return second_.texts.contains(best->proposal.program) ? second_ : first_;
  const bool failed = std::any_of(tree.nodes().begin(), tree.nodes().end(), [this](const search::Node& n) {
    return n.measurement && !n.usable() && first_.texts.contains(n.proposal.program);
  });
  return failed ? second_ : first_;
}

Result<std::optional<search::Proposal>> Either::ask(Side& side, const search::Tree& tree) {
  SOLSTICE_TRY(std::optional<search::Proposal> proposal, side.proposer->propose(tree));
  if (!proposal) return proposal;
  side.texts.insert(proposal->program);
  proposal->equations = side.label;
  if (!side.label.empty()) proposal->reason = side.label + ": " + proposal->reason;
  return proposal;
}

Result<std::optional<search::Proposal>> Either::propose(const search::Tree& tree) {
  Side& side = asked_ == 0 ? first_ : asked_ == 1 ? second_ : leading(tree);
  ++asked_;
  SOLSTICE_TRY(std::optional<search::Proposal> proposal, ask(side, tree));
  return proposal ? Result<std::optional<search::Proposal>>(std::move(proposal)) : ask(&side == &first_ ? second_ : first_, tree);
}

}  // namespace solstice::propose
