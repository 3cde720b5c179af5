// A kernel written by a generator that is not always right. Candidates which need more shared memory than there is do
// not compile, some pairs of settings exclude each other, one setting is often wrong, and of the rest some fail for
// reasons nobody can foresee.
//
// Hard because about half of all candidates fail and the cost model does not know which: it likes large tiles and deep
// stages, and so do the true gains, up to the edge where nothing compiles. Part of the failures can be learnt from the
// knobs, part cannot, and a good region may be reachable only around a gap. The gains are a sum over knobs and pairs of
// knobs; it knows half of the pairs.
#include <algorithm>
#include <array>

#include "search/knobs.h"

namespace solstice::search {
namespace {
namespace flaky_slopes {

constexpr size_t knobs = 8;
constexpr std::array<int, knobs> values = {4, 3, 5, 4, 4, 3, 4, 4};
constexpr size_t most_values = 5;
constexpr size_t pairs = 8;
constexpr size_t excluded = 3;   // in so many of the pairs, one combination does not compile
constexpr size_t large = 3;      // the first knobs of `order` are the ones that take shared memory
constexpr double memory = 2.05;  // of at most 3
constexpr int openings = 4;

using Point = std::array<int, knobs>;
using Effects = std::array<std::array<double, most_values>, knobs>;

struct Pair {
  size_t a = 0, b = 0;  // knobs
};

struct Model {
  explicit Model(uint64_t seed_) : seed(seed_) {
    Random random(seed, "flaky_slopes");
    for (size_t i = 0; i < knobs; ++i) order[i] = i;
    for (size_t i = knobs - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    for (size_t i = 0; i < pairs; ++i) {
      pair_[i].a = order[i];
      pair_[i].b = order[(i + 1 + random.below(knobs - 1)) % knobs];
    }
    for (auto& knob : effect)
      for (double& value : knob) value = 0.18 * random.normal();
    for (auto& knob : mistake)
      for (double& value : knob) value = 0.2 * random.normal();
    often_wrong = order[knobs - 1];
    bad = random_point(random, values);
  }

  double size(const Point& point) const {
    double sum = 0;
    for (size_t i = 0; i < large; ++i) sum += point[order[i]] / (values[order[i]] - 1.0);
    return sum;
  }
  double sum_of(const Point& point, const Effects& effects) const {
    double sum = 0;
    for (size_t knob = 0; knob < knobs; ++knob) sum += effects[knob][static_cast<size_t>(point[knob])];
    return sum;
  }
  double of_pairs(const Point& point, size_t count) const {
    double sum = 0;
    for (size_t i = 0; i < count; ++i) {
      const auto a = static_cast<uint64_t>(point[pair_[i].a]), b = static_cast<uint64_t>(point[pair_[i].b]);
      sum += 0.2 * Random(seed, "flaky_slopes pair", (i * most_values + a) * most_values + b).normal();
    }
    return sum;
  }
  double gain(const Point& point) const {
    return 0.5 * (size(point) - 1.2) + sum_of(point, effect) + of_pairs(point, pairs);
  }
  double predicted(const Point& point) const {
    const double known = 0.6 * (size(point) - 1.2) + 0.7 * sum_of(point, effect) + 0.7 * of_pairs(point, pairs / 2);
    return known + sum_of(point, mistake) +
           0.3 * Random(seed, "flaky_slopes mistake", number_of(point, most_values)).normal();
  }
  bool works(const Point& point) const {
    if (size(point) > memory) return false;
    for (size_t i = 0; i < excluded; ++i)
      if (point[pair_[i].a] == bad[pair_[i].a] && point[pair_[i].b] == bad[pair_[i].b]) return false;
    const double risk = point[often_wrong] == bad[often_wrong] ? 0.5 : 0.12;
    return !Random(seed, "flaky_slopes fails", number_of(point, most_values)).chance(risk);
  }
  Step step(const Point& point) const { return {text_of(point), predicted(point)}; }

  uint64_t seed;
  std::array<size_t, knobs> order{};
  std::array<Pair, pairs> pair_{};
  Effects effect{}, mistake{};
  size_t often_wrong = 0;
  Point bad{};  // the values that do not go together, and the one that is often wrong
};

std::vector<Step> moves(uint64_t seed, const std::string& candidate) {
  const Model model(seed);
  std::vector<Step> steps;
  Random random(seed, "flaky_slopes openings");
  while (candidate.empty() && steps.size() < openings) {  // someone has tried these: all but the last work
    const Point point = random_point(random, values);
    if (steps.size() + 1 == openings || model.works(point)) steps.push_back(model.step(point));
  }
  const Point start = point_of(candidate, values);
  for (size_t knob = 0; !candidate.empty() && knob < knobs; ++knob)
    for (int more = 1; more < values[knob]; ++more) {
      Point point = start;
      point[knob] = (start[knob] + more) % values[knob];
      steps.push_back(model.step(point));
    }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.predicted_gain > b.predicted_gain; });
  return steps;
}

double gain(uint64_t seed, const std::string& candidate) {
  return candidate.empty() ? 0 : Model(seed).gain(point_of(candidate, values));
}

bool works(uint64_t seed, const std::string& candidate) {
  return candidate.empty() || Model(seed).works(point_of(candidate, values));
}

}  // namespace flaky_slopes
}  // namespace

extern const Landscape solstice_landscapes_flaky_slopes;
const Landscape solstice_landscapes_flaky_slopes = {
    "flaky_slopes",
    "failing",
    "half of the candidates fail, partly by shared memory and settings that clash, partly at random",
    flaky_slopes::moves,
    flaky_slopes::gain,
    flaky_slopes::works,
    0.04};

}  // namespace solstice::search
