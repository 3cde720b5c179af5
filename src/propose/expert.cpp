#include "propose/expert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "propose/formulation/label.h"
#include "propose/formulation/written.h"
#include "propose/moves/advice.h"
#include "propose/moves/headroom.h"
#include "propose/moves/more_exact.h"
#include "propose/moves/moves.h"

namespace solstice::propose {
namespace {

// Cost models are wrong by less than this: a cut that they find slower by more than it is not tried.
constexpr double kDoubtfulCut = 1.5;
using Found = Result<std::optional<search::Proposal>>;
const std::optional<search::Proposal> kNothing;
constexpr const char* kFastest = "the fastest of earlier runs here";

}  // namespace

Expert::Expert(std::vector<Formulation> formulations, const std::vector<Known>& known,
               std::shared_ptr<const search::Memory> memory, Hearing hearing)
    : variants_(std::move(formulations)), memory_(std::move(memory)), hearing_(std::move(hearing)) {
  for (const Known& one : known) known_.emplace(one.program, one.time);
  for (size_t i = 0; i < variants_.openings(); ++i)
    fastest_known_.push_back(fastest_of(variants_.opening(i).formulation.label, known));
  fastest_rewritten_ = fastest_beside(known);
}
Expert::~Expert() = default;

Result<search::Proposal> Expert::emit(const Variant& variant, const Choice& choice, std::string reason) const {
  const Formulation& formulation = variant.formulation;
  search::Proposal out;
  SOLSTICE_TRY(out.program, formulation.render(formulation.axes, choice));
  const bool said = formulation.label.empty() || variant.base > 0;  // by what it is derived from
  out.reason = said ? std::move(reason) : formulation.label + ": " + reason;
  out.predicted = formulation.predicted(choice);
  out.settings = formulation.settings_of(choice);
  out.equations = formulation.label;
  out.cut = variant.cut;
  out.origin = "expert";
  if (const auto known = known_.find(out.program); known != known_.end()) out.known = known->second;
  return out;
}

// Nothing where none can be found again: its kernels have other settings or cuts now.
std::optional<Place> Expert::fastest_of(const std::string& label, const std::vector<Known>& known) {
  std::vector<const Known*> fastest;
  for (const Known& one : known) {
    if (one.equations == label && !one.settings.empty()) fastest.push_back(&one);
  }
  std::stable_sort(fastest.begin(), fastest.end(), [](const Known* a, const Known* b) { return a->time < b->time; });
  constexpr size_t kTried = 3;  // to find a place takes a while
  for (size_t i = 0; i < std::min(kTried, fastest.size()); ++i) {
    Variant* const variant = variants_.find(label, fastest[i]->cut);
    std::optional<Choice> choice = variant ? variant->formulation.choice_of(fastest[i]->settings) : std::nullopt;
    if (choice) return Place{variant, std::move(*choice)};
  }
  return std::nullopt;
}

// The fastest of all, where it is of equations that single rewrites lead to.
std::optional<Place> Expert::fastest_beside(const std::vector<Known>& known) {
  const auto ours = [](const Known& one) { return !one.settings.empty() && !trial_named(one.equations); };
  const Known* best = nullptr;
  for (const Known& one : known) {
    if (ours(one) && (!best || one.time < best->time)) best = &one;
  }
  return best && steps_named(best->equations) ? fastest_of(best->equations, known) : std::nullopt;
}

const Worth& Expert::worth_of_variant(Variant& variant) const {
  if (!variant.worth) variant.worth = worth_of(variant.formulation, memory_.get());
  return *variant.worth;
}

// Of each formulation the fastest of earlier runs, or where there is none what memory of other problems prefers, or
// where it has no say the cost models' own choice; then the others' choice.
Found Expert::open(const search::Tree& tree) {
  if (fastest_rewritten_) {
    SOLSTICE_TRY(search::Proposal proposal, emit(*fastest_rewritten_->variant, fastest_rewritten_->choice, kFastest));
    if (!tree.contains(proposal.program)) return std::optional(std::move(proposal));
  }
  for (const bool first : {true, false}) {
    for (size_t i = 0; i < variants_.openings(); ++i) {
      Place place{&variants_.opening(i), Choice(variants_.opening(i).formulation.axes.size(), 0)};
      std::string reason = "the cost models' first choice";
      double remembered = 0;
      if (first && fastest_known_[i]) {
        place = *fastest_known_[i];
        reason = kFastest;
      } else if (std::optional<Choice> better =
                     first ? preferred(place.variant->formulation, worth_of_variant(*place.variant)) : std::nullopt) {
        const Formulation& formulation = place.variant->formulation;
        const double gain = expected_gain(formulation, *place.variant->worth, place.choice, *better);
        remembered = beyond_models(formulation, *place.variant->worth, place.choice, *better);
        reason = fmt::format("what memory prefers, expected {} than the cost models' first choice", share_text(gain));
        place.choice = std::move(*better);
      }
      SOLSTICE_TRY(search::Proposal proposal, emit(*place.variant, place.choice, std::move(reason)));
      proposal.remembered = remembered;
      if (!tree.contains(proposal.program)) return std::optional(std::move(proposal));
    }
  }
  return kNothing;
}

// Nobody has tried it, not even with other comments.
bool Expert::is_new(const search::Tree& tree, const std::string& program) {
  if (tree.contains(program)) return false;
  const auto bare = [this](const std::string& text) -> const std::string& {
    const auto [at, fresh] = bare_programs_.try_emplace(text);
    if (fresh) at->second = without_comments(text);
    return at->second;
  };
  return std::none_of(tree.nodes().begin(), tree.nodes().end(), [&](const search::Node& node) {
    const bool ours = node.id == 0 || !node.proposal.settings.empty();
    return !ours && bare(node.proposal.program) == bare(program);
  });
}

Expert::Surroundings Expert::around(const search::Tree& tree, const Place& place) {
  Surroundings out;
  for (const search::Event& event : tree.events()) {
    const bool skipped = event.kind == search::Event::Kind::kSkipped;
    if (!skipped && event.kind != search::Event::Kind::kProposed) continue;
    const search::Proposal& proposal = *event.proposal;
    const auto from = out.choices.find(proposal.parent);
    if (!place.variant->has(proposal, skipped ? 0 : event.node)) {
      if (from != out.choices.end() && !proposal.cut.empty())
        ++(proposal.equations == place.variant->formulation.label ? out.cuts : out.rewrites);
      continue;
    }
    const std::optional<Place>& at = variants_.place_of(tree, proposal, skipped ? 0 : event.node);
    if (!at || at->variant != place.variant) continue;
    Tried one{at->choice, skipped ? nullptr : &tree.node(event.node), nullptr, std::nullopt};
    if (!skipped) out.choices[event.node] = at->choice;
    const search::Node& parent = tree.node(proposal.parent);
    if (from != out.choices.end()) one.parent = &from->second;
    if (parent.usable()) one.parent_time = parent.measurement->time;
    out.tried.push_back(std::move(one));
  }
  if (!place.variant->groups) place.variant->groups = alike(place.variant->formulation.axes);
  return out;
}

Result<search::Proposal> Expert::moved(const Place& from, const Move& move) {
  const Formulation& formulation = from.variant->formulation;
  const Choice to = move.applied_to(from.choice);
  const std::string reason = text_of(formulation.axes, move) + (move.repeats ? ", which gained elsewhere" : "") +
                             advice_text(formulation, memory_.get(), move) + move.advised;
  SOLSTICE_TRY(search::Proposal proposal, emit(*from.variant, to, reason));
  if (move.remembered)
    proposal.remembered = beyond_models(formulation, worth_of_variant(*from.variant), from.choice, to);
  return proposal;
}

Found Expert::more_exact(const search::Tree& tree, int node) {
  const std::optional<Place>& place = variants_.place_of(tree, tree.node(node).proposal, node);
  if (!place) return kNothing;
  const Formulation& formulation = place->variant->formulation;
  const Surroundings near = around(tree, *place);
  const std::optional<Choice> to =
      propose::more_exact(formulation.axes, *place->variant->groups, place->choice, near.tried);
  if (!to) return kNothing;
  std::set<std::string> maths;
  for (size_t a = 0; a < to->size(); ++a) {
    if ((*to)[a] != place->choice[a]) maths.insert(math_of(formulation.axes[a].options[(*to)[a]]));
  }
  SOLSTICE_TRY(search::Proposal proposal,
               emit(*place->variant, *to,
                    fmt::format("other arithmetic, {}: trial {} was wrong", fmt::join(maths, " and "), node)));
  return is_new(tree, proposal.program) ? std::optional(std::move(proposal)) : kNothing;
}

Found Expert::vary(const search::Tree& tree, int node) {
  const std::optional<Place>& place = variants_.place_of(tree, tree.node(node).proposal, node);
  if (!place || (place->variant->base == node && !tree.node(node).usable())) return kNothing;
  if (tree.node(node).failed() && tree.node(node).measurement->state == TrialState::kWrong) {
    SOLSTICE_TRY(std::optional<search::Proposal> exact, more_exact(tree, node));
    if (exact) return exact;
  }
  const Surroundings near = around(tree, *place);
  const Formulation& formulation = place->variant->formulation;
  const Seconds most = formulation.predicted(place->choice) * kDoubtfulCut;
  const std::vector<Seconds> headroom = headroom_of(formulation.axes, tree.node(node));
  const Worth& worth = worth_of_variant(*place->variant);
  std::vector<Move> moves =
      moves_from(formulation.axes, *place->variant->groups, place->choice, near.tried, worth, headroom);
  const std::vector<Counsel> counsel = counsel_of(tree.node(node), hearing_);
  put_advised_first(moves, formulation, place->choice, counsel, near.tried, worth);
  SOLSTICE_TRY(std::optional<search::Proposal> first,
               advised(tree, *place, counsel, moves.empty() ? 0 : moves.front().promised, most));
  if (first) return first;
  for (const Move& move : moves) {
    SOLSTICE_TRY(search::Proposal proposal, moved(*place, move));
    if (!is_new(tree, proposal.program)) continue;
    SOLSTICE_TRY(std::optional<search::Proposal> other, before(tree, *place, near, move, proposal.predicted));
    return std::optional(other ? std::move(*other) : std::move(proposal));
  }
  SOLSTICE_TRY(std::optional<search::Proposal> other, recut(tree, *place, most));
  // A move that may turn out faster than the models say is tried from the best only, or a search would wander.
  if (other || tree.best() != &tree.node(node)) return other;
  return rewrite(tree, *place, variants_.rewritten(*place->variant, std::numeric_limits<size_t>::max()), most);
}

Found Expert::propose(const search::Tree& tree, int node) { return node == 0 ? open(tree) : vary(tree, node); }

}  // namespace solstice::propose
