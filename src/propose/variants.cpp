#include "propose/variants.h"

#include <algorithm>

#include "lang/print.h"
#include "propose/formulation/label.h"
#include "propose/formulation/plan.h"
#include "propose/formulation/written.h"

namespace solstice::propose {

bool Variant::has(const search::Proposal& proposal, int node) const {
  if (base > 0 && node == base) return true;
  return !proposal.settings.empty() && proposal.equations == formulation.label && proposal.cut == cut;
}

Variants::Variants(std::vector<Formulation> openings) : openings_(openings.size()) {
  for (Formulation& formulation : openings) add(std::move(formulation));
}

Variant* Variants::add(Formulation formulation, int base) {
  Variant& out = *variants_.emplace_back(std::make_unique<Variant>());
  out.cut = formulation.equations ? cut_text(formulation.cut) : "";
  out.formulation = std::move(formulation);
  out.base = base;
  return &out;
}

Variant* Variants::find(const std::string& label, const std::string& cut, const Partition* parts) {
  const auto found = std::find_if(variants_.begin(), variants_.end(), [&](const auto& variant) {
    return variant->formulation.label == label && variant->cut == cut;
  });
  if (found != variants_.end()) return found->get();
  const Variant* const base = base_of(label);
  if (!base || !base->formulation.equations) return nullptr;
  if (base->cut == cut) return base_of(label);
  const std::shared_ptr<const Equations> equations = base->formulation.equations;
  Result<Partition> read = parts ? Result<Partition>(*parts) : parse_cut(cut, *equations);
  if (!read.ok()) return nullptr;
  Result<Formulation> made = formulate(equations, std::move(*read));
  if (!made.ok()) return nullptr;
  made->label = label;
  return add(std::move(*made));
}

Variant* Variants::base_of(const std::string& label) {
  const auto found = std::find_if(variants_.begin(), variants_.end(),
                                  [&](const auto& variant) { return variant->formulation.label == label; });
  return found != variants_.end() ? found->get() : rewritten_as(label);
}

// In the planner's cut; null where there is no such problem, step or plan.
Variant* Variants::rewritten_as(const std::string& label) {
  std::optional<std::vector<RewriteStep>> steps = steps_named(label);
  const auto own = std::find_if(variants_.begin(), variants_.end(), [](const auto& variant) {
    return variant->formulation.equations && variant->formulation.equations->from.problem;
  });
  if (!steps || own == variants_.end()) return nullptr;
  const std::shared_ptr<const Equations> of = (*own)->formulation.equations;
  if (of->context.keep_nonfinite && !keeps_nonfinite(label)) return nullptr;
  Result<ir::BoundText> text = propose::rewritten(*of->from.problem, *steps);
  if (!text.ok()) return nullptr;
  Result<Plan> planned = plan_exactly(std::make_shared<const ir::BoundText>(std::move(*text)), of->context,
                                      {of->from.problem, std::move(*steps)});
  if (!planned.ok()) return nullptr;
  planned->formulation.label = label;
  return add(std::move(planned->formulation));
}

namespace {

bool leads_to(const std::string& rewrite, const std::vector<RewriteStep>& before,
              const std::vector<RewriteStep>& after) {
  const auto times = [&](const std::vector<RewriteStep>& steps) {
    return std::count_if(steps.begin(), steps.end(), [&](const RewriteStep& s) { return s.rewrite->name == rewrite; });
  };
  return times(after) > times(before);
}

}  // namespace

bool Variants::opens(const std::string& equations) const {
  return std::any_of(
      variants_.begin(), variants_.begin() + static_cast<std::ptrdiff_t>(openings_), [&](const auto& variant) {
        return variant->formulation.equations && lang::print(variant->formulation.equations->text->tree) == equations;
      });
}

std::vector<const Reworded*> Variants::rewritten(Variant& from, size_t most, const std::string& by) {
  if (!from.formulation.equations) return {};
  if (!from.rewrites) {
    from.rewrites.emplace();
    const Equations& equations = *from.formulation.equations;
    for (Rewording& one : rewordings(*equations.text, equations.from, equations.context.keep_nonfinite))
      from.rewrites->push_back({std::move(one)});
  }
  std::vector<const Reworded*> out;
  for (size_t i = 0; i < std::min(most, from.rewrites->size()); ++i) {
    Reworded& one = (*from.rewrites)[i];
    if (!by.empty() && !leads_to(by, from.formulation.equations->from.steps, one.how.steps)) continue;
    if (!one.looked_at) one.variant = base_of(label_of(one.how.steps));
    if (!one.looked_at && one.variant && opens(lang::print(one.variant->formulation.equations->text->tree)))
      one.variant = nullptr;
    one.looked_at = true;
    if (one.variant) out.push_back(&one);
  }
  const auto time = [](const Reworded* one) {
    return one->variant->formulation.predicted(Choice(one->variant->formulation.axes.size(), 0));
  };
  std::stable_sort(out.begin(), out.end(), [&](const Reworded* a, const Reworded* b) { return time(a) < time(b); });
  return out;
}

// The program of trial `base` as it was written; null where it cannot be varied, as device code that has no cost model.
Variant* Variants::written(const search::Tree& tree, int base) {
  if (base <= 0 || base > tree.trials()) return nullptr;
  const auto [at, fresh] = written_.try_emplace(base, nullptr);
  if (!fresh) return at->second;
  const auto planned = std::find_if(variants_.begin(), variants_.end(),
                                    [](const auto& variant) { return variant->formulation.equations != nullptr; });
  if (planned == variants_.end()) return nullptr;  // nobody knows for what
  const PlanningContext& context = (*planned)->formulation.equations->context;
  Result<Formulation> made = formulate_written(tree.node(base).proposal.program, as_trial(base), context);
  if (made.ok()) at->second = add(std::move(*made), base);
  return at->second;
}

std::optional<Place> Variants::found(const search::Tree& tree, const search::Proposal& proposal, int node) {
  const std::optional<int> base = trial_named(proposal.equations);
  Variant* const variant = proposal.settings.empty() ? nullptr
                           : base                    ? written(tree, *base)
                                                     : find(proposal.equations, proposal.cut);
  std::optional<Choice> choice = variant ? variant->formulation.choice_of(proposal.settings) : std::nullopt;
  if (choice) return Place{variant, std::move(*choice)};
  Variant* const own = written(tree, node);  // somebody else's, or of another build of this expert
  return own ? std::optional(Place{own, Choice(own->formulation.axes.size(), 0)}) : std::nullopt;
}

const std::optional<Place>& Variants::place_of(const search::Tree& tree, const search::Proposal& proposal, int node) {
  const auto at = places_.find(proposal.program);
  if (at != places_.end()) return at->second;
  std::optional<Place> place = found(tree, proposal, node);
  return places_.emplace(proposal.program, std::move(place)).first->second;
}

}  // namespace solstice::propose
