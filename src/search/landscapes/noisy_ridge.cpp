// Tile against stages, threads against registers, split against cluster: three pairs of knobs that share a budget, so
// that what pays is the right balance of the two. All knobs are ordered and neighbours are alike. The machine is shared
// and its clock wanders.
//
// Hard because the noise of a measurement is about as large as several moves along the ridge, so that the best of many
// measurements is often a lucky one; and a single knob changed on the ridge leads off it, so that progress takes two
// moves whose first looks bad. The cost model is smooth too, but its optimum is off and it underrates the
// balance.
#include <algorithm>
#include <array>

#include "search/knobs.h"

namespace solstice::search {
namespace {
namespace noisy_ridge {

constexpr size_t knobs = 7;
constexpr std::array<int, knobs> values = {6, 5, 6, 4, 5, 4, 5};
constexpr int most_values = 6;
constexpr size_t pairs = 3;  // the first six of `order`, two by two
constexpr int openings = 5;

using Point = std::array<int, knobs>;
using Place = std::array<double, knobs>;  // each knob from 0 to 1

struct Model {
  explicit Model(uint64_t seed_) : seed(seed_) {
    Random random(seed, "noisy_ridge");
    for (size_t i = 0; i < knobs; ++i) order[i] = i;
    for (size_t i = knobs - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    for (size_t knob = 0; knob < knobs; ++knob) {
      best[knob] = 0.1 + 0.8 * random.uniform();
      believed[knob] = std::clamp(best[knob] + 0.2 * random.normal(), 0.0, 1.0);
      weight[knob] = 0.4 + 0.9 * random.uniform();
    }
    for (size_t pair = 0; pair < pairs; ++pair) {
      sign[pair] = random.chance(0.5) ? 1 : -1;
      steepness[pair] = 2 + 2 * random.uniform();
    }
    peak = 1.8 + 0.8 * random.uniform();
  }

  // A hill with its top at `centre`; `balance` is how much the pairs count.
  double hill(const Point& point, const Place& centre, double balance) const {
    Place off{};
    double loss = 0;
    for (size_t knob = 0; knob < knobs; ++knob) {
      off[knob] = point[knob] / (values[knob] - 1.0) - centre[knob];
      loss += weight[knob] * off[knob] * off[knob];
    }
    for (size_t pair = 0; pair < pairs; ++pair) {
      const double across = off[order[2 * pair]] + sign[pair] * off[order[2 * pair + 1]];
      loss += balance * steepness[pair] * across * across;
    }
    return peak - 1.5 * loss / (1 + 0.35 * loss);  // steep near the top, and level at about -2
  }
  double gain(const Point& point) const { return hill(point, best, 1); }
  double predicted(const Point& point) const {
    return hill(point, believed, 0.4) - 0.4 +
           0.45 * Random(seed, "noisy_ridge mistake", number_of(point, most_values)).normal();
  }
  Step step(const Point& point) const { return {text_of(point), predicted(point)}; }

  uint64_t seed;
  std::array<size_t, knobs> order{};
  Place best{}, believed{}, weight{};
  std::array<double, pairs> sign{}, steepness{};
  double peak = 0;
};

std::vector<Step> moves(uint64_t seed, const std::string& candidate) {
  const Model model(seed);
  std::vector<Step> steps;
  const auto add = [&](Point point, size_t knob, int by) {
    point[knob] += by;
    if (point[knob] >= 0 && point[knob] < values[knob]) steps.push_back(model.step(point));
  };
  if (candidate.empty()) {
    Random random(seed, "noisy_ridge openings");
    for (int i = 0; i < openings; ++i) {
      steps.push_back(model.step(random_point(random, values)));
    }
  } else {
    const Point point = point_of(candidate, values);
    for (size_t knob = 0; knob < knobs; ++knob)
      for (const int by : {-1, 1, -2, 2}) add(point, knob, by);
    for (const int by : {-1, 1}) {  // the first pair's balance is well known, so a proposer shifts both at once
      Point shifted = point;
      int& first = shifted[model.order[0]];
      first += by;
      if (first < 0 || first >= values[model.order[0]]) continue;
      add(shifted, model.order[1], model.sign[0] > 0 ? -by : by);
    }
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.predicted_gain > b.predicted_gain; });
  return steps;
}

double gain(uint64_t seed, const std::string& candidate) {
  return candidate.empty() ? 0 : Model(seed).gain(point_of(candidate, values));
}

bool works(uint64_t seed, const std::string& candidate) {
  return candidate.empty() ||
         !Random(seed, "noisy_ridge fails", number_of(point_of(candidate, values), most_values)).chance(0.05);
}

}  // namespace noisy_ridge
}  // namespace

extern const Landscape solstice_landscapes_noisy_ridge;
const Landscape solstice_landscapes_noisy_ridge = {
    "noisy_ridge",
    "noisy",
    "smooth, with pairs of knobs to keep in balance, measured on a noisy machine",
    noisy_ridge::moves,
    noisy_ridge::gain,
    noisy_ridge::works,
    0.15};

}  // namespace solstice::search
