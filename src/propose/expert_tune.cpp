// The expert with another author: gains at the schedules of a program that works.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "propose/expert.h"
#include "propose/moves/advice.h"

namespace solstice::propose {
namespace {

// log2 of what the whole program is expected to gain.
double gain_of(const Formulation& formulation, const Worth& worth, const Choice& from, const Choice& to) {
  if (!worth.empty()) return expected_gain(formulation, worth, from, to);
  const Seconds before = formulation.predicted(from), after = formulation.predicted(to);
  return after.value > 0 ? std::log2(before / after) : 0;
}

bool is_more_than_noise(double gain) { return gain > std::log2(1 + search::kNoise); }

}  // namespace

// Moves that are expected to gain, the most first, and then what gained elsewhere.
std::vector<Move> Expert::gains(const Place& from, const std::vector<Move>& moves) {
  const Formulation& formulation = from.variant->formulation;
  const Worth& worth = worth_of_variant(*from.variant);
  std::vector<std::pair<double, const Move*>> found;
  for (const Move& move : moves) {
    const double gain = gain_of(formulation, worth, from.choice, move.applied_to(from.choice));
    if (move.repeats || is_more_than_noise(gain)) found.emplace_back(gain, &move);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Move> out;
  for (const auto& [gain, move] : found) out.push_back(*move);
  return out;
}

// Nothing where fewer than two kernels gain.
Result<std::optional<search::Proposal>> Expert::all_by_models(const Place& from) {
  const Formulation& formulation = from.variant->formulation;
  const Worth& worth = worth_of_variant(*from.variant);
  const std::vector<Move> moves = fastest_options(formulation.axes, *from.variant->groups, from.choice, worth);
  Choice to = from.choice;
  std::string reason;
  for (const Move& move : moves) {
    to = move.applied_to(std::move(to));
    reason += (reason.empty() ? "" : "; ") + text_of(formulation.axes, move);
  }
  if (moves.size() < 2 || !is_more_than_noise(gain_of(formulation, worth, from.choice, to)))
    return std::optional<search::Proposal>();
  SOLSTICE_TRY(search::Proposal out, emit(*from.variant, to, std::move(reason)));
  out.remembered = beyond_models(formulation, worth, from.choice, to);
  return std::optional(std::move(out));
}

Result<std::optional<search::Proposal>> Expert::tune(const search::Tree& tree, int node) {
  if (node == 0 || !tree.node(node).usable()) return std::optional<search::Proposal>();
  const std::optional<Place>& place = variants_.place_of(tree, tree.node(node).proposal, node);
  if (!place || place->variant->base == 0) return std::optional<search::Proposal>();
  const Surroundings near = around(tree, *place);
  SOLSTICE_TRY(std::optional<search::Proposal> all, all_by_models(*place));
  if (all && is_new(tree, all->program)) return all;
  const Worth& worth = worth_of_variant(*place->variant);
  for (const Move& move : gains(*place, moves_from(place->variant->formulation.axes, *place->variant->groups,
                                                   place->choice, near.tried, worth))) {
    SOLSTICE_TRY(search::Proposal proposal, moved(*place, move));
    if (is_new(tree, proposal.program)) return std::optional(std::move(proposal));
  }
  return std::optional<search::Proposal>();
}

}  // namespace solstice::propose
