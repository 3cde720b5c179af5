// The expert's moves to other kernels: other cuts, and other equations that one rewrite more or less leads to.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "propose/expert.h"
#include "propose/moves/advice.h"

namespace solstice::propose {
namespace {

// Schedules tried for each other cut: of repeated layers there are many cuts, one as good as the other.
constexpr size_t kSchedulesACut = 2;

using Other = Result<std::optional<search::Proposal>>;
const std::optional<search::Proposal> kNoOther;

// Two kernels compute the same: of the same text by the numbers of their equations, else by all that these are.
bool same_kernel(const Formulation& from, size_t a, const Formulation& to, size_t b) {
  if (from.equations == to.equations) return from.cut.groups[a].equations == to.cut.groups[b].equations;
  return from.structures[a] == to.structures[b];
}

// Kernels keep their options of `from` in `to`, where the same equations make a kernel there; others take what is
// preferred.
Choice carried(const Formulation& from, const Choice& choice, const Formulation& to,
               const std::optional<Choice>& preferred) {
  Choice out = preferred.value_or(Choice(to.axes.size(), 0));
  for (size_t k = 0; k < to.axes.size(); ++k) {
    for (size_t old = 0; old < from.axes.size(); ++old) {
      if (!same_kernel(from, old, to, k)) continue;
      const std::string wanted = from.axes[old].options[choice[old]].text();
      const std::vector<Schedule>& options = to.axes[k].options;
      const auto same =
          std::find_if(options.begin(), options.end(), [&](const Schedule& s) { return s.text() == wanted; });
      out[k] = same == options.end() ? 0 : static_cast<size_t>(same - options.begin());
    }
  }
  return out;
}

}  // namespace

// Those that cost least by the cost models, corrected by memory, first.
const std::vector<Recut>& Expert::other_cuts(Variant& variant) {
  if (!variant.others) {
    variant.others.emplace();
    if (variant.formulation.equations) variant.others = recuts(variant.formulation);
    correct_by_memory(*variant.others, variant.formulation, memory_.get());
  }
  return *variant.others;
}

// Nothing where its schedules are all illegal here, or where it was tried.
Other Expert::recut_to(const search::Tree& tree, const Place& from, const Recut& other, const std::string& why) {
  const Formulation& formulation = from.variant->formulation;
  Variant* const to = variants_.find(formulation.label, cut_text(other.partition), &other.partition);
  if (!to) return kNoOther;
  const Choice choice =
      carried(formulation, from.choice, to->formulation, preferred(to->formulation, worth_of_variant(*to)));
  const std::string said =
      other.remembered == 0 ? "" : fmt::format(", by memory {} than the cost models say", share_text(other.remembered));
  SOLSTICE_TRY(search::Proposal proposal, emit(*to, choice, other.step + said + why));
  proposal.remembered = other.remembered;
  return tree.contains(proposal.program) ? kNoOther : std::optional(std::move(proposal));
}

// The cheapest cut that differs in one step and was not tried, where the cost models, corrected by memory, put it below
// `most`.
Other Expert::recut(const search::Tree& tree, const Place& from, Seconds most) {
  for (const Recut& other : other_cuts(*from.variant)) {
    if (other.cost > most) break;
    SOLSTICE_TRY(std::optional<search::Proposal> proposal, recut_to(tree, from, other, ""));
    if (proposal) return proposal;
  }
  return kNoOther;
}

// The first of these formulations, which one rewrite more or less leads to, that the cost models put below `most`. Each
// set of rewrites is entered once: many cost the same, and some the same whatever their order.
Other Expert::rewrite(const search::Tree& tree, const Place& from, const std::vector<const Reworded*>& others,
                      Seconds most, const std::string& why) {
  std::set<std::string> entered;
  for (const search::Event& event : tree.events()) {
    if (event.proposal) entered.insert(unordered(event.proposal->equations));
  }
  for (const Reworded* other : others) {
    Variant& to = *other->variant;
    if (entered.contains(unordered(to.formulation.label))) continue;
    const Formulation& before = from.variant->formulation;
    const Choice choice = carried(before, from.choice, to.formulation, preferred(to.formulation, worth_of_variant(to)));
    if (to.formulation.predicted(choice) > most) continue;
    SOLSTICE_TRY(search::Proposal proposal, emit(to, choice, other->how.reason + why));
    if (is_new(tree, proposal.program)) return std::optional(std::move(proposal));
  }
  return kNoOther;
}

// Another cut goes before a schedule that no finding advises where the cost models find it no slower, other equations
// where they find them faster than what is there: most make no difference. As many of these are looked at as cuts may
// be tried by then, since it takes a while.
Other Expert::before(const search::Tree& tree, const Place& from, const Surroundings& near, const Move& move,
                     Seconds predicted) {
  if (move.repeats || !move.advised.empty()) return kNoOther;
  const auto turn = [&](size_t had) { return had * kSchedulesACut <= near.tried.size(); };
  SOLSTICE_TRY(std::optional<search::Proposal> other, turn(near.cuts) ? recut(tree, from, predicted) : Other(kNoOther));
  if (other || !turn(near.rewrites)) return other;
  const Seconds gaining = from.variant->formulation.predicted(from.choice) * (1 - search::kNoise);
  return rewrite(tree, from, variants_.rewritten(*from.variant, near.tried.size() / kSchedulesACut),
                 std::min(predicted, gaining));
}

}  // namespace solstice::propose
