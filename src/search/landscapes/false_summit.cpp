// Two designs of one kernel: the usual one, in which every warp loads and computes, and a better one with warps that
// only load. Going over takes four knobs, in two pairs (say, producer warps with bulk copies, and deeper stages with
// larger tiles).
//
// Hard because all openings are of the usual design, and both the cost model and the nearest gains lead to its best
// candidate. On the way over, each knob alone costs a little. The signs: a complete pair wins back a part of its cost,
// the cost model does not know this and so is too low there in a consistent way, and the other knobs begin to prefer
// what the better design wants.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "search/knobs.h"

namespace solstice::search {
namespace {
namespace false_summit {

constexpr size_t knobs = 9;
constexpr std::array<int, knobs> values = {4, 4, 3, 4, 5, 4, 4, 3, 3};
constexpr int most_values = 5;
constexpr size_t switches = 4;  // the first four of `order`, in pairs; the others are tuned
constexpr int openings = 4;

using Point = std::array<int, knobs>;

int random_value(Random& random, size_t knob) {
  return static_cast<int>(random.below(static_cast<size_t>(values[knob])));
}

struct Model {
  explicit Model(uint64_t seed_) : seed(seed_) {
    Random random(seed, "false_summit");
    for (size_t i = 0; i < knobs; ++i) order[i] = i;
    for (size_t i = knobs - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    for (size_t i = 0; i < knobs; ++i) {
      const size_t knob = order[i];
      usual[knob] = better[knob] = random_value(random, knob);
      while (i < switches && better[knob] == usual[knob]) better[knob] = random_value(random, knob);
      if (i >= switches && random.chance(0.7)) better[knob] = random_value(random, knob);
      slope[knob] = i < switches ? 0.2 + 0.15 * random.uniform() : 0.12 + 0.2 * random.uniform();
      for (double& value : mistake[knob]) value = 0.2 * random.normal();
    }
    summit = 1.0 + 0.4 * random.uniform();
    for (double& bonus : pair_bonus) bonus = 0.3 + 0.15 * random.uniform();
    both_bonus = 1.2 + 0.5 * random.uniform();
  }

  int pairs(const Point& point, size_t pair) const {  // whether this pair is complete
    const size_t a = order[2 * pair], b = order[2 * pair + 1];
    return point[a] == better[a] && point[b] == better[b];
  }
  // Loss of the candidate against the best of a design that is `over` (0 to 1) of the way to the better one.
  double loss(const Point& point, double over) const {
    double sum = 0;
    for (size_t i = 0; i < knobs; ++i) {
      const size_t knob = order[i];
      const int value = point[knob];
      if (i < switches) {
        sum += slope[knob] * (value == usual[knob] ? 0 : value == better[knob] ? 1 : 1.4);
      } else {
        sum += slope[knob] * ((1 - over) * std::abs(value - usual[knob]) + over * std::abs(value - better[knob]));
      }
    }
    return sum;
  }
  double gain(const Point& point) const {
    const int first = pairs(point, 0), second = pairs(point, 1);
    const double bonus = pair_bonus[0] * first + pair_bonus[1] * second + both_bonus * first * second;
    const double rough = 0.06 * Random(seed, "false_summit rough", number_of(point, most_values)).normal();
    return std::max(-2.5, summit - loss(point, 0.5 * (first + second)) + bonus + rough);
  }
  double predicted(const Point& point) const {
    double sum = 0.8 * (summit - loss(point, 0)) + 0.25 * both_bonus * pairs(point, 0) * pairs(point, 1);
    for (size_t knob = 0; knob < knobs; ++knob) sum += mistake[knob][static_cast<size_t>(point[knob])];
    return sum + 0.3 * Random(seed, "false_summit mistake", number_of(point, most_values)).normal();
  }
  Step step(const Point& point) const { return {text_of(point), predicted(point)}; }

  uint64_t seed;
  std::array<size_t, knobs> order{};
  Point usual{}, better{};
  std::array<double, knobs> slope{};
  std::array<double, 2> pair_bonus{};
  double summit = 0, both_bonus = 0;
  std::array<std::array<double, most_values>, knobs> mistake{};
};

std::vector<Step> moves(uint64_t seed, const std::string& candidate) {
  const Model model(seed);
  std::vector<Step> steps;
  Random random(seed, "false_summit openings");
  for (int i = 0; candidate.empty() && i < openings; ++i) {
    Point point = model.usual;
    for (size_t j = switches; j < knobs; ++j) point[model.order[j]] = random_value(random, model.order[j]);
    steps.push_back(model.step(point));
  }
  const Point start = point_of(candidate, values);
  for (size_t knob = 0; !candidate.empty() && knob < knobs; ++knob)
    for (int more = 1; more < values[knob]; ++more) {
      Point point = start;
      point[knob] = (start[knob] + more) % values[knob];
      steps.push_back(model.step(point));
    }
  Point whole_pair = start;  // one of the pairs is also offered as one change of structure
  for (size_t i = 0; i < 2; ++i) whole_pair[model.order[i]] = model.better[model.order[i]];
  if (!candidate.empty() && whole_pair != start) steps.push_back(model.step(whole_pair));
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.predicted_gain > b.predicted_gain; });
  const auto same = [](const Step& a, const Step& b) {
    return a.candidate == b.candidate;
  };  // these are now neighbours
  steps.erase(std::unique(steps.begin(), steps.end(), same), steps.end());
  return steps;
}

double gain(uint64_t seed, const std::string& candidate) {
  return candidate.empty() ? 0 : Model(seed).gain(point_of(candidate, values));
}

bool works(uint64_t seed, const std::string& candidate) {
  return candidate.empty() ||
         !Random(seed, "false_summit fails", number_of(point_of(candidate, values), most_values)).chance(0.06);
}

}  // namespace false_summit
}  // namespace

extern const Landscape solstice_landscapes_false_summit;
const Landscape solstice_landscapes_false_summit = {
    "false_summit",
    "deceptive",
    "the usual design is where all signs point first; a better one lies four knobs away",
    false_summit::moves,
    false_summit::gain,
    false_summit::works,
    0.03};

}  // namespace solstice::search
