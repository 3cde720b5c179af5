// A kernel with one fast path that needs five settings at once, such as a layout, a tile, a cluster, a swizzle and a
// way to issue copies which only together keep the tensor cores busy. Everywhere else all candidates are about as good
// as each other.
//
// Hard because the gains elsewhere are small and say nothing about where the fast path is, the openings are far from
// it, and the cost model hardly knows it. Two settings short of it there is a faint sign, and one short a clear one;
// the two other knobs hardly matter.
#include <algorithm>
#include <array>

#include "search/knobs.h"

namespace solstice::search {
namespace {
namespace far_needle {

constexpr size_t knobs = 7;
constexpr std::array<int, knobs> values = {5, 5, 4, 5, 4, 5, 4};
constexpr int most_values = 5;
constexpr int needed = 5;  // knobs which the fast path needs
constexpr int openings = 4;
constexpr double spread = 0.07;  // of one knob's or one pair's effect away from the fast path

using Point = std::array<int, knobs>;
using Effects = std::array<std::array<double, most_values>, knobs>;

struct Model {
  explicit Model(uint64_t seed_) : seed(seed_) {
    Random random(seed, "far_needle");
    needle = random_point(random, values);
    height = 1.9 + 0.6 * random.uniform();
    for (size_t left = knobs; left > knobs - needed;) {  // which knobs matter: five of seven, each set as likely
      const size_t knob = random.below(knobs);
      if (!matters[knob]) matters[knob] = true, --left;
    }
    for (auto& knob : effect)
      for (double& value : knob) value = spread * random.normal();
    for (auto& knob : mistake)
      for (double& value : knob) value = spread * random.normal();
  }

  int missing(const Point& point) const {
    int count = 0;
    for (size_t knob = 0; knob < knobs; ++knob) count += matters[knob] && point[knob] != needle[knob];
    return count;
  }
  double fast_path(const Point& point) const {
    constexpr std::array<double, needed + 1> share = {1, 0.3, 0.06, 0, 0, 0};
    return height * share[static_cast<size_t>(missing(point))];
  }
  double flat(const Point& point) const {  // each knob, and each with the next
    double sum = 0;
    for (size_t knob = 0; knob < knobs; ++knob) sum += effect[knob][static_cast<size_t>(point[knob])];
    for (size_t knob = 0; knob + 1 < knobs; ++knob) {
      const auto pair =
          (knob * most_values + static_cast<size_t>(point[knob])) * most_values + static_cast<size_t>(point[knob + 1]);
      sum += spread * Random(seed, "far_needle pair", pair).normal();
    }
    return sum;
  }
  double gain(const Point& point) const { return flat(point) + fast_path(point); }
  double predicted(const Point& point) const {
    double sum = 0.45 * flat(point) + 0.1 * fast_path(point);
    for (size_t knob = 0; knob < knobs; ++knob) sum += mistake[knob][static_cast<size_t>(point[knob])];
    return sum + 0.2 * Random(seed, "far_needle mistake", number_of(point, most_values)).normal();
  }
  Step step(const Point& point) const { return {text_of(point), predicted(point)}; }

  uint64_t seed;
  Point needle{};
  double height = 0;
  std::array<bool, knobs> matters{};
  Effects effect{}, mistake{};
};

std::vector<Step> moves(uint64_t seed, const std::string& candidate) {
  const Model model(seed);
  std::vector<Step> steps;
  if (candidate.empty()) {
    Random random(seed, "far_needle openings");
    while (steps.size() < openings) {
      const Point point = random_point(random, values);
      if (model.missing(point) >= needed - 1) steps.push_back(model.step(point));
    }
  } else {
    Point point = point_of(candidate, values);
    for (size_t knob = 0; knob < knobs; ++knob) {
      const int before = point[knob];
      for (int value = 0; value < values[knob]; ++value) {
        point[knob] = value;
        if (value != before) steps.push_back(model.step(point));
      }
      point[knob] = before;
    }
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.predicted_gain > b.predicted_gain; });
  return steps;
}

double gain(uint64_t seed, const std::string& candidate) {
  return candidate.empty() ? 0 : Model(seed).gain(point_of(candidate, values));
}

bool works(uint64_t seed, const std::string& candidate) {  // a few fail for reasons of their own
  return candidate.empty() ||
         !Random(seed, "far_needle fails", number_of(point_of(candidate, values), most_values)).chance(0.04);
}

}  // namespace far_needle
}  // namespace

extern const Landscape solstice_landscapes_far_needle;
const Landscape solstice_landscapes_far_needle = {
    "far_needle",
    "needle",
    "a fast path that needs five settings at once, in a landscape that is flat elsewhere",
    far_needle::moves,
    far_needle::gain,
    far_needle::works,
    0.03};

}  // namespace solstice::search
