// A kernel that is as fast as its tightest limit allows: bandwidth, latency, issue slots or the last wave. Each limit
// comes in whole steps (blocks per multiprocessor, bytes per load, waves) and depends on three of eight knobs; some
// knobs serve two limits.
//
// Hard because widening a limit that does not bind changes nothing, so most moves stay on a level; a level is left
// upwards only when all the limits that bind have been widened. The cost model adds the limits up where the hardware
// takes the least of them: it praises what does not bind, but also sees progress within a level that no measurement
// shows.
#include <algorithm>
#include <array>

#include "search/knobs.h"

namespace solstice::search {
namespace {
namespace stepped_plateau {

constexpr size_t knobs = 8;
constexpr int values = 4;
constexpr size_t limits = 4, knobs_a_limit = 3;
constexpr int top = 5;                                          // levels are 0 to 5
constexpr std::array<int, 8> costs = {0, 1, 1, 1, 1, 2, 2, 3};  // levels that a value other than the best may lose
constexpr int openings = 3;

using Point = std::array<int, knobs>;
constexpr Point each = {values, values, values, values, values, values, values, values};
using Levels = std::array<int, limits>;

struct Limit {
  std::array<size_t, knobs_a_limit> knob{};
  std::array<std::array<int, values>, knobs_a_limit> cost{};
  std::array<int, knobs_a_limit> usual{};  // what a proposer would set them to for this limit's sake
};

struct Model {
  explicit Model(uint64_t seed_) : seed(seed_) {
    Random random(seed, "stepped_plateau");
    std::array<size_t, knobs> order{};
    for (size_t i = 0; i < knobs; ++i) order[i] = i;
    for (size_t i = knobs - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
    best = random_point(random, each);
    for (size_t i = 0; i < limits; ++i) {
      Limit& limit = limit_[i];
      for (size_t j = 0; j < knobs_a_limit; ++j) {
        limit.knob[j] = order[(2 * i + j) % knobs];  // its last knob is the next limit's first
        const int wanted = best[limit.knob[j]];
        for (int value = 0; value < values; ++value)
          limit.cost[j][static_cast<size_t>(value)] = value == wanted ? 0 : costs[random.below(costs.size())];
        limit.usual[j] = random.chance(0.5) ? wanted : static_cast<int>(random.below(values));
      }
    }
    height[0] = -0.8 + 0.4 * random.uniform();
    for (size_t i = 1; i <= top; ++i) height[i] = height[i - 1] + 0.35 + 0.5 * random.uniform();
    for (double& weight : weights) weight = 0.5 + random.uniform();
  }

  Levels levels(const Point& point) const {
    Levels result{};
    for (size_t i = 0; i < limits; ++i) {
      int lost = 0;
      for (size_t j = 0; j < knobs_a_limit; ++j)
        lost += limit_[i].cost[j][static_cast<size_t>(point[limit_[i].knob[j]])];
      result[i] = std::max(0, top - lost);
    }
    return result;
  }
  int level(const Point& point) const {
    const Levels all = levels(point);
    return *std::min_element(all.begin(), all.end());
  }
  double gain(const Point& point) const { return height[static_cast<size_t>(level(point))]; }
  double predicted(const Point& point) const {
    const Levels all = levels(point);
    double sum = 0, total = 0;
    for (size_t i = 0; i < limits; ++i) sum += weights[i] * all[i], total += weights[i];
    const double mistake = 0.3 * Random(seed, "stepped_plateau mistake", number_of(point, values)).normal();
    return height[0] + (height[top] - height[0]) * 0.8 * sum / (total * top) + mistake;
  }
  Step step(const Point& point) const { return {text_of(point), predicted(point)}; }

  uint64_t seed;
  Point best{};
  std::array<Limit, limits> limit_{};
  std::array<double, top + 1> height{};
  std::array<double, limits> weights{};  // the cost model's, of each limit
};

std::vector<Step> moves(uint64_t seed, const std::string& candidate) {
  const Model model(seed);
  std::vector<Step> steps;
  if (candidate.empty()) {
    Random random(seed, "stepped_plateau openings");
    while (steps.size() < openings) {
      const Point point = random_point(random, each);
      if (model.level(point) <= 1) steps.push_back(model.step(point));
    }
  } else {
    const Point start = point_of(candidate, each);
    for (size_t knob = 0; knob < knobs; ++knob)
      for (int more = 1; more < values; ++more) {
        Point point = start;
        point[knob] = (start[knob] + more) % values;
        steps.push_back(model.step(point));
      }
    for (const Limit& limit : model.limit_) {  // three knobs at once, as usual for that limit
      Point point = start;
      for (size_t j = 0; j < knobs_a_limit; ++j) point[limit.knob[j]] = limit.usual[j];
      if (point != start) steps.push_back(model.step(point));
    }
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.predicted_gain > b.predicted_gain; });
  const auto same = [](const Step& a, const Step& b) {
    return a.candidate == b.candidate;
  };  // these are now neighbours
  steps.erase(std::unique(steps.begin(), steps.end(), same), steps.end());
  return steps;
}

double gain(uint64_t seed, const std::string& candidate) {
  return candidate.empty() ? 0 : Model(seed).gain(point_of(candidate, each));
}

bool works(uint64_t seed, const std::string& candidate) {
  return candidate.empty() ||
         !Random(seed, "stepped_plateau fails", number_of(point_of(candidate, each), values)).chance(0.05);
}

}  // namespace stepped_plateau
}  // namespace

extern const Landscape solstice_landscapes_stepped_plateau;
const Landscape solstice_landscapes_stepped_plateau = {"stepped_plateau",
                                                       "plateau",
                                                       "as fast as the tightest of four limits, each in whole steps",
                                                       stepped_plateau::moves,
                                                       stepped_plateau::gain,
                                                       stepped_plateau::works,
                                                       0.03};

}  // namespace solstice::search
