// Candidates of made-up landscapes: a setting of some knobs, as text "3,0,2,1".
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "search/landscape.h"

namespace solstice::search {

using Setting = std::vector<int>;

std::string text_of(const Setting& setting);
Setting setting_of(const std::string& candidate);

struct Knobs {
  int count = 6;
  int values = 5;    // of each: 0 .. values - 1
  int openings = 3;  // settings that lead from the problem
};

// Moves change one knob; from the problem lead a few random settings. `predict` is the cost model; the most promising go first.
std::vector<Step> one_knob_moves(const Knobs& knobs, uint64_t seed, const std::string& candidate,
                                 const std::function<double(const Setting&)>& predict);

// A number for each (name, setting), normal with deviation 1: what nobody can know but by trying.
double surprise(uint64_t seed, std::string_view name, const Setting& setting);

// Each knob by itself: the nearer to its hidden best value, the more it gives, up to `most` in all.
double separable(const Knobs& knobs, uint64_t seed, const Setting& setting, double most);
// The hidden best value of each.
Setting hidden(const Knobs& knobs, uint64_t seed, std::string_view name);

}  // namespace solstice::search
