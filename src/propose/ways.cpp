#include "propose/ways.h"

#include <algorithm>

#include "propose/label.h"
#include "propose/written.h"

namespace solstice::propose {

bool Way::has(const search::Proposal& proposal, int node) const {
  if (base > 0 && node == base) return true;
  return !proposal.settings.empty() && proposal.equations == formulation.label && proposal.cut == cut;
}

Ways::Ways(std::vector<Formulation> openings) : openings_(openings.size()) {
  for (Formulation& formulation : openings) add(std::move(formulation));
}

Way* Ways::add(Formulation formulation, int base) {
  Way& out = *ways_.emplace_back(std::make_unique<Way>());
  out.cut = formulation.equations ? cut_text(formulation.cut) : "";
  out.formulation = std::move(formulation);
  out.base = base;
  return &out;
}

Way* Ways::find(const std::string& label, const std::string& cut, const Partition* parts) {
  const auto found =
      std::find_if(ways_.begin(), ways_.end(), [&](const auto& way) { return way->formulation.label == label && way->cut == cut; });
  if (found != ways_.end()) return found->get();
  const auto base = std::find_if(ways_.begin(), ways_.end(), [&](const auto& way) { return way->formulation.label == label; });
  if (base == ways_.end() || !(*base)->formulation.equations) return nullptr;
  const std::shared_ptr<const Equations> equations = (*base)->formulation.equations;
  Result<Partition> read = parts ? Result<Partition>(*parts) : parse_cut(cut, *equations);
  if (!read.ok()) return nullptr;
  Result<Formulation> made = formulate(equations, std::move(*read));
  if (!made.ok()) return nullptr;
  made->label = label;
  return add(std::move(*made));
}

// The program of trial `base` as it was written; null where it cannot be varied, as device code that has no cost model.
Way* Ways::written(const search::Tree& tree, int base) {
  if (base <= 0 || base > tree.trials()) return nullptr;
  const auto [at, fresh] = written_.try_emplace(base, nullptr);
  if (!fresh) return at->second;
  const auto planned = std::find_if(ways_.begin(), ways_.end(), [](const auto& way) { return way->formulation.equations != nullptr; });
  if (planned == ways_.end()) return nullptr;  // nobody knows for what
  const PlanningContext& context = (*planned)->formulation.equations->context;
  Result<Formulation> made = formulate_written(tree.node(base).proposal.program, as_trial(base), context);
  if (made.ok()) at->second = add(std::move(*made), base);
  return at->second;
}

std::optional<Place> Ways::found(const search::Tree& tree, const search::Proposal& proposal, int node) {
  const std::optional<int> base = trial_named(proposal.equations);
  Way* const way = proposal.settings.empty() ? nullptr : base ? written(tree, *base) : find(proposal.equations, proposal.cut);
  std::optional<Choice> choice = way ? way->formulation.choice_of(proposal.settings) : std::nullopt;
  if (choice) return Place{way, std::move(*choice)};
  Way* const own = written(tree, node);  // somebody else's, or of another build of this expert
  return own ? std::optional(Place{own, Choice(own->formulation.axes.size(), 0)}) : std::nullopt;
}

const std::optional<Place>& Ways::place_of(const search::Tree& tree, const search::Proposal& proposal, int node) {
  const auto at = places_.find(proposal.program);
  if (at != places_.end()) return at->second;
  std::optional<Place> place = found(tree, proposal, node);
  return places_.emplace(proposal.program, std::move(place)).first->second;
}

}  // namespace solstice::propose
