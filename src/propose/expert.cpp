#include "propose/expert.h"

#include <fmt/format.h>

#include <algorithm>

#include "propose/advice.h"
#include "propose/moves.h"

namespace solstice::propose {
namespace {

// Cost models are wrong by less than this: a cut that they find slower by more than it is not tried.
constexpr double kDoubtfulCut = 1.5;
// Schedules tried for each other cut: of repeated layers there are many cuts, one as good as the other.
constexpr size_t kSchedulesACut = 2;

using Found = Result<std::optional<search::Proposal>>;
const std::optional<search::Proposal> kNothing;

// What kernels have in `from` they keep in `to`, where the same equations make a kernel there; others take what is preferred.
Choice carried(const Formulation& from, const Choice& choice, const Formulation& to, const std::optional<Choice>& preferred) {
  Choice out = preferred.value_or(Choice(to.axes.size(), 0));
  for (size_t k = 0; k < to.axes.size(); ++k) {
    for (size_t old = 0; old < from.axes.size(); ++old) {
      if (from.cut.groups[old].equations != to.cut.groups[k].equations) continue;
      const std::string wanted = from.axes[old].options[choice[old]].text();
      const std::vector<Schedule>& options = to.axes[k].options;
      const auto same = std::find_if(options.begin(), options.end(), [&](const Schedule& s) { return s.text() == wanted; });
      out[k] = same == options.end() ? 0 : static_cast<size_t>(same - options.begin());
    }
  }
  return out;
}

// "kernel gemm1", "kernel gemm1 and 15 alike"
std::string names_of(const Formulation& formulation, const Move& move) {
  const std::string first = "kernel " + formulation.axes[move.axes[0]].kernel;
  return move.axes.size() == 1 ? first : fmt::format("{} and {} alike", first, move.axes.size() - 1);
}

}  // namespace

struct Expert::Way {
  Formulation formulation;
  std::optional<Alike> groups = {};
  std::optional<std::vector<Recut>> others = {};
  std::optional<Worth> worth = {};  // of its options, by memory

  std::string cut() const { return formulation.equations ? cut_text(formulation.cut) : ""; }
};

Expert::Expert(std::vector<Formulation> formulations, const std::vector<Known>& known, std::shared_ptr<const search::Memory> memory)
    : memory_(std::move(memory)), openings_(formulations.size()) {
  for (const Known& one : known) known_.emplace(one.program, one.time);
  for (Formulation& formulation : formulations) ways_.push_back(std::make_unique<Way>(Way{std::move(formulation)}));
  for (size_t i = 0; i < openings_; ++i) fastest_known_.push_back(fastest_of(ways_[i]->formulation.label, known));
}
Expert::~Expert() = default;

Result<search::Proposal> Expert::emit(const Way& way, const Choice& choice, std::string reason) const {
  const Formulation& formulation = way.formulation;
  search::Proposal out;
  SOLSTICE_TRY(out.program, formulation.render(formulation.axes, choice));
  out.reason = formulation.label.empty() ? std::move(reason) : formulation.label + ": " + reason;
  out.predicted = formulation.predicted(choice);
  out.settings = formulation.settings_of(choice);
  out.equations = formulation.label;
  out.cut = way.cut();
  out.origin = "expert";
  if (const auto known = known_.find(out.program); known != known_.end()) out.known = known->second;
  return out;
}

// Null where no such cut can be run: the tree is of another build.
Expert::Way* Expert::way_of(const std::string& label, const std::string& cut, const Partition* parts) {
  const auto found =
      std::find_if(ways_.begin(), ways_.end(), [&](const auto& way) { return way->formulation.label == label && way->cut() == cut; });
  if (found != ways_.end()) return found->get();
  const auto base = std::find_if(ways_.begin(), ways_.end(), [&](const auto& way) { return way->formulation.label == label; });
  if (base == ways_.end() || !(*base)->formulation.equations) return nullptr;
  const std::shared_ptr<const Equations> equations = (*base)->formulation.equations;
  Result<Partition> read = parts ? Result<Partition>(*parts) : parse_cut(cut, *equations);
  if (!read.ok()) return nullptr;
  Result<Formulation> made = formulate(equations, std::move(*read));
  if (!made.ok()) return nullptr;
  made->label = label;
  return ways_.emplace_back(std::make_unique<Way>(Way{std::move(*made)})).get();
}

const std::optional<Expert::Place>& Expert::place_of(const search::Proposal& proposal) {
  const auto [at, fresh] = places_.try_emplace(proposal.program);
  if (!fresh) return at->second;
  Way* const way = way_of(proposal.equations, proposal.cut);
  std::optional<Choice> choice = way ? way->formulation.choice_of(proposal.settings) : std::nullopt;
  if (choice) at->second = Place{way, std::move(*choice)};
  return at->second;
}

// Nothing where none can be found again: its kernels have other settings or cuts now.
std::optional<Expert::Place> Expert::fastest_of(const std::string& label, const std::vector<Known>& known) {
  std::vector<const Known*> fastest;
  for (const Known& one : known) {
    if (one.equations == label) fastest.push_back(&one);
  }
  std::stable_sort(fastest.begin(), fastest.end(), [](const Known* a, const Known* b) { return a->time < b->time; });
  constexpr size_t kTried = 3;  // to find a place takes a while
  for (size_t i = 0; i < std::min(kTried, fastest.size()); ++i) {
    Way* const way = way_of(label, fastest[i]->cut);
    std::optional<Choice> choice = way ? way->formulation.choice_of(fastest[i]->settings) : std::nullopt;
    if (choice) return Place{way, std::move(*choice)};
  }
  return std::nullopt;
}

const Worth& Expert::worth_of_way(Way& way) const {
  if (!way.worth) way.worth = worth_of(way.formulation, memory_.get());
  return *way.worth;
}

// Of each formulation the fastest of earlier runs, or where there is none what memory of other problems prefers, or where it has no
// say the cost models' own choice; then the others' choice.
Found Expert::open(const search::Tree& tree) {
  for (const bool first : {true, false}) {
    for (size_t i = 0; i < openings_; ++i) {
      Place place{ways_[i].get(), Choice(ways_[i]->formulation.axes.size(), 0)};
      std::string reason = "the cost models' first choice";
      double remembered = 0;
      if (first && fastest_known_[i]) {
        place = *fastest_known_[i];
        reason = "the fastest of earlier runs here";
      } else if (std::optional<Choice> better = first ? preferred(place.way->formulation, worth_of_way(*place.way)) : std::nullopt) {
        const Formulation& formulation = place.way->formulation;
        const double gain = expected_gain(formulation, *place.way->worth, place.choice, *better);
        remembered = beyond_models(formulation, *place.way->worth, place.choice, *better);
        reason = fmt::format("what memory prefers, expected {} than the cost models' first choice", share_text(gain));
        place.choice = std::move(*better);
      }
      SOLSTICE_TRY(search::Proposal proposal, emit(*place.way, place.choice, std::move(reason)));
      proposal.remembered = remembered;
      if (!tree.contains(proposal.program)) return std::optional(std::move(proposal));
    }
  }
  return kNothing;
}

// The cheapest cut that differs in one step and was not tried, where the cost models, corrected by memory, put it below `most`.
Found Expert::recut(const search::Tree& tree, const Place& from, Seconds most) {
  Way& way = *from.way;
  if (!way.formulation.equations) return kNothing;
  if (!way.others) {
    way.others = recuts(way.formulation);
    correct_by_memory(*way.others, way.formulation, memory_.get());
  }
  for (const Recut& other : *way.others) {
    if (other.cost > most) break;
    Way* const to = way_of(way.formulation.label, cut_text(other.partition), &other.partition);
    if (!to) continue;  // its schedules are all illegal here
    const Choice choice = carried(way.formulation, from.choice, to->formulation, preferred(to->formulation, worth_of_way(*to)));
    const std::string said =
        other.remembered == 0 ? "" : fmt::format(", by memory {} than the cost models say", share_text(other.remembered));
    SOLSTICE_TRY(search::Proposal proposal, emit(*to, choice, other.step + said));
    proposal.remembered = other.remembered;
    if (!tree.contains(proposal.program)) return std::optional(std::move(proposal));
  }
  return kNothing;
}

Found Expert::vary(const search::Tree& tree, int node) {
  const std::optional<Place>& place = place_of(tree.node(node).proposal);
  if (!place) return kNothing;    // somebody else's
  std::map<int, Choice> choices;  // of nodes of this formulation
  std::vector<Tried> tried;
  size_t cuts = 0;  // derived from it
  for (const search::Event& event : tree.events()) {
    const bool skipped = event.kind == search::Event::Kind::kSkipped;
    if (!skipped && event.kind != search::Event::Kind::kProposed) continue;
    const std::optional<Place>& at = place_of(*event.proposal);
    const auto from = choices.find(event.proposal->parent);
    if (at && at->way != place->way && from != choices.end()) ++cuts;
    if (!at || at->way != place->way) continue;
    Tried one{at->choice, skipped ? nullptr : &tree.node(event.node), nullptr, std::nullopt};
    if (!skipped) choices[event.node] = at->choice;
    const search::Node& parent = tree.node(event.proposal->parent);
    if (from != choices.end()) one.parent = &from->second;
    if (parent.usable()) one.parent_time = parent.measurement->time;
    tried.push_back(std::move(one));
  }
  const Formulation& formulation = place->way->formulation;
  if (!place->way->groups) place->way->groups = alike(formulation.axes);
  const Seconds most = formulation.predicted(place->choice) * kDoubtfulCut;
  const Worth& worth = worth_of_way(*place->way);
  for (const Move& move : moves_from(formulation.axes, *place->way->groups, place->choice, tried, worth)) {
    const Axis& axis = formulation.axes[move.axes[0]];
    const Choice to = move.applied_to(place->choice);
    const std::string reason = fmt::format("{}: {}{}{}", names_of(formulation, move), axis.options[move.option].text(),
                                           move.repeats ? ", which gained elsewhere" : "", said_of(formulation, memory_.get(), move));
    SOLSTICE_TRY(search::Proposal proposal, emit(*place->way, to, reason));
    if (tree.contains(proposal.program)) continue;
    if (move.remembered) proposal.remembered = beyond_models(formulation, worth, place->choice, to);
    // Another cut goes first where the cost models find it no slower.
    const bool turn = !move.repeats && cuts * kSchedulesACut <= tried.size();
    SOLSTICE_TRY(std::optional<search::Proposal> other, recut(tree, *place, turn ? proposal.predicted : Seconds(0)));
    return std::optional(other ? std::move(*other) : std::move(proposal));
  }
  return recut(tree, *place, most);
}

Found Expert::propose(const search::Tree& tree, int node) { return node == 0 ? open(tree) : vary(tree, node); }

}  // namespace solstice::propose
