// The expert's moves to cuts and equations that findings of a candidate advise (moves/counsel.h).
#include <algorithm>
#include <limits>

#include "propose/expert.h"

namespace solstice::propose {
namespace {

using Heard = Result<std::optional<search::Proposal>>;
const std::optional<search::Proposal> kUnheard;

// Equations of the kernel of this name; null: there is none.
const std::vector<int>* equations_named(const std::string& kernel, const Formulation& formulation) {
  for (size_t k = 0; k < formulation.axes.size() && k < formulation.cut.groups.size(); ++k) {
    if (formulation.axes[k].kernel == kernel) return &formulation.cut.groups[k].equations;
  }
  return nullptr;
}

bool in_one_group(std::vector<int> equations, const Partition& cut) {
  std::sort(equations.begin(), equations.end());
  return std::any_of(cut.groups.begin(), cut.groups.end(), [&](const Group& group) {
    std::vector<int> own = group.equations;
    std::sort(own.begin(), own.end());
    return std::includes(own.begin(), own.end(), equations.begin(), equations.end());
  });
}

// Both kernels are one in the cut, or the one kernel is none any more.
bool does(const Recut& cut, const FindingAction& action, const Formulation& from) {
  const std::vector<int>*kernel = equations_named(action.kernel, from), *with = equations_named(action.with, from);
  if (!kernel) return false;
  if (action.with.empty()) return !in_one_group(*kernel, cut.partition);
  if (!with) return false;
  std::vector<int> both = *kernel;
  both.insert(both.end(), with->begin(), with->end());
  return in_one_group(std::move(both), cut.partition);
}

// Somebody has proposed a candidate of these equations in this cut: from then on it is varied like any other.
bool was_entered(const search::Tree& tree, const std::string& label, const std::string& cut) {
  return std::any_of(tree.events().begin(), tree.events().end(), [&](const search::Event& event) {
    return event.proposal && event.proposal->equations == label && event.proposal->cut == cut;
  });
}

}  // namespace

// Of the advice that promises more than `above`: a cut or a rewrite that the expert knows, that nobody tried, and that
// costs less than `most` by the cost models.
Heard Expert::advised(const search::Tree& tree, const Place& from, const std::vector<Counsel>& counsel, double above,
                      Seconds most) {
  const Formulation& formulation = from.variant->formulation;
  for (const Counsel& one : counsel) {
    if (one.promise <= above || !formulation.equations) break;
    if (one.action.kind == ActionKind::kRewrite) {
      const std::vector<const Reworded*> others =
          variants_.rewritten(*from.variant, std::numeric_limits<size_t>::max(), one.action.rewrite);
      SOLSTICE_TRY(std::optional<search::Proposal> proposal, rewrite(tree, from, others, most, one.text()));
      if (proposal) return proposal;
    }
    if (one.action.kind != ActionKind::kCut) continue;
    for (const Recut& cut : other_cuts(*from.variant)) {
      if (cut.cost > most || !does(cut, one.action, formulation)) continue;
      if (was_entered(tree, formulation.label, cut_text(cut.partition))) continue;
      SOLSTICE_TRY(std::optional<search::Proposal> proposal, recut_to(tree, from, cut, one.text()));
      if (proposal) return proposal;
    }
  }
  return kUnheard;
}

}  // namespace solstice::propose
