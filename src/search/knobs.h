// Candidates of made-up landscapes: a setting of some knobs, as text "3,0,2,1". Knobs have fewer than ten values.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "search/landscape.h"

namespace solstice::search {

using Setting = std::vector<int>;

std::string text_of(std::span<const int> setting);
Setting setting_of(const std::string& candidate);

// Its values as the digits of a number: another one for each setting where `base` is more than any value.
uint64_t number_of(std::span<const int> setting, uint64_t base);

// A setting of N knobs that have `values` each, whatever the text.
template <size_t N>
std::array<int, N> point_of(const std::string& text, const std::array<int, N>& values) {
  std::array<int, N> point{};
  for (size_t knob = 0; knob < N && 2 * knob < text.size(); ++knob)
    point[knob] = std::clamp(text[2 * knob] - '0', 0, values[knob] - 1);
  return point;
}

template <size_t N>
std::array<int, N> random_point(Random& random, const std::array<int, N>& values) {
  std::array<int, N> point{};
  for (size_t knob = 0; knob < N; ++knob)
    point[knob] = static_cast<int>(random.below(static_cast<size_t>(values[knob])));
  return point;
}

struct Knobs {
  int count = 6;
  int values = 5;    // of each: 0 .. values - 1
  int openings = 3;  // settings that lead from the problem
};

// Moves change one knob; from the problem lead a few random settings. `predict` is the cost model; the most promising
// go first.
std::vector<Step> one_knob_moves(const Knobs& knobs, uint64_t seed, const std::string& candidate,
                                 const std::function<double(const Setting&)>& predict);

// A number for each (name, setting), normal with deviation 1: what nobody can know but by trying.
double surprise(uint64_t seed, std::string_view name, const Setting& setting);

// Each knob by itself: the nearer to its hidden best value, the more it gives, up to `most` in all.
double separable(const Knobs& knobs, uint64_t seed, const Setting& setting, double most);
// The hidden best value of each.
Setting hidden(const Knobs& knobs, uint64_t seed, std::string_view name);

}  // namespace solstice::search
