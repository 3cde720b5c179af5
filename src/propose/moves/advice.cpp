#include "propose/moves/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "propose/facts/facts.h"
#include "propose/facts/structure.h"

namespace solstice::propose {
namespace {

// The groups of `a` that `b` lacks.
std::vector<size_t> groups_only_in(const Partition& a, const Partition& b) {
  std::vector<size_t> out;
  for (size_t g = 0; g < a.groups.size(); ++g) {
    const auto same = [&](const Group& other) { return other.equations == a.groups[g].equations; };
    if (std::none_of(b.groups.begin(), b.groups.end(), same)) out.push_back(g);
  }
  return out;
}

// The change of a cut, as facts call it.
struct CutMove {
  Structure whole;
  std::string from, to;
  Seconds made;  // what comes out takes, by the cost models
};

CutMove move_of(const Recut& cut, const Formulation& from) {
  const std::vector<size_t> gone = groups_only_in(from.cut, cut.partition),
                            made = groups_only_in(cut.partition, from.cut);
  const ir::Program scheduled = apply(from.equations->text->program, cut.partition);
  const auto structure = [&](size_t g) {
    const std::vector<int>& equations = cut.partition.groups[g].equations;
    auto& known = from.equations->structures;
    const auto found = known.find(equations);
    return found != known.end() ? found->second
                                : known.emplace(equations, structure_of(scheduled, equations)).first->second;
  };
  std::vector<std::string> pieces;
  Seconds cost;
  for (const size_t g : made) cost += cut.partition.groups[g].cost;
  const bool fuses = made.size() < gone.size();
  if (fuses) {
    for (const size_t g : gone) pieces.push_back(from.structures[g].kind);
    return {structure(made.front()), apart(std::move(pieces)), kInOne, cost};
  }
  for (const size_t g : made) pieces.push_back(structure(g).kind);
  return {from.structures[gone.front()], kInOne, apart(std::move(pieces)), cost};
}

}  // namespace

Worth worth_of(const Formulation& formulation, const search::Memory* memory) {
  if (!memory || memory->empty() || formulation.structures.size() != formulation.axes.size()) return {};
  bool speaks = false;
  Worth out;
  for (size_t a = 0; a < formulation.axes.size(); ++a) {
    std::vector<double>& axis = out.emplace_back();
    for (const Schedule& option : formulation.axes[a].options) {
      axis.push_back(memory->worth(formulation.structures[a], setting_text(option.family, option.knobs)));
      speaks = speaks || axis.back() != 0;
    }
  }
  return speaks ? out : Worth{};
}

std::optional<Choice> preferred(const Formulation& formulation, const Worth& worth) {
  if (worth.empty()) return std::nullopt;
  Choice out(formulation.axes.size(), 0);
  bool differs = false;
  for (size_t a = 0; a < worth.size(); ++a) {
    double most = std::log2(1 + search::kNoise);
    for (size_t o = 1; o < worth[a].size(); ++o) {
      const double gain = expected_gain(formulation.axes[a], worth[a], 0, o);
      if (worth[a][o] == 0 || gain <= most) continue;
      most = gain;
      out[a] = o;
      differs = true;
    }
  }
  return differs ? std::optional(std::move(out)) : std::nullopt;
}

double expected_gain(const Formulation& formulation, const Worth& worth, const Choice& from, const Choice& to) {
  if (worth.empty()) return 0;
  Seconds before, after;
  for (size_t a = 0; a < from.size(); ++a) {
    before += corrected(formulation.axes[a], worth[a], from[a]);
    after += corrected(formulation.axes[a], worth[a], to[a]);
  }
  return after.value > 0 ? std::log2(before / after) : 0;
}

double beyond_models(const Formulation& formulation, const Worth& worth, const Choice& from, const Choice& to) {
  if (worth.empty()) return 0;
  return expected_gain(formulation, worth, from, to) -
         std::log2(formulation.predicted(from) / formulation.predicted(to));
}

std::string share_text(double gain) {
  const double percent = 100 * (1 - std::exp2(-std::abs(gain)));
  return fmt::format("{:.{}f} % {}", percent, percent < 10 ? 1 : 0, gain > 0 ? "faster" : "slower");
}

std::string advice_text(const Formulation& formulation, const search::Memory* memory, const Move& move) {
  if (!memory || !move.remembered) return "";
  const size_t axis = move.axes[0];
  const Schedule& option = formulation.axes[axis].options[move.option];
  const search::Memory::Evidence seen =
      memory->evidence(formulation.structures[axis], setting_text(option.family, option.knobs));
  const std::string rests =
      seen.facts == 0 ? "facts of like settings"
                      : fmt::format("{} fact{} of {} kernel{} like it", seen.facts, seen.facts == 1 ? "" : "s",
                                    seen.structures, seen.structures == 1 ? "" : "s");
  return fmt::format(", expected {} by {}", share_text(move.expected), rests);
}

void correct_by_memory(std::vector<Recut>& cuts, const Formulation& from, const search::Memory* memory) {
  if (!memory || memory->empty() || from.structures.size() != from.cut.groups.size()) return;
  for (Recut& cut : cuts) {
    const CutMove move = move_of(cut, from);
    const double to = memory->worth(move.whole, move.to);
    if (to == 0) continue;
    cut.remembered = to - memory->worth(move.whole, move.from);
    cut.cost += move.made * (std::exp2(-cut.remembered) - 1);
  }
  std::stable_sort(cuts.begin(), cuts.end(), [](const Recut& a, const Recut& b) { return a.cost < b.cost; });
}

}  // namespace solstice::propose
