// Gains come in steps of 0.75: most moves change nothing, and the model sees the slope but not the steps.
#include <cmath>

#include "search/knobs.h"

namespace solstice::search {
namespace {

constexpr Knobs kPlateau{.count = 6, .values = 5, .openings = 3};

double plateau_slope(uint64_t seed, const Setting& at) { return separable(kPlateau, seed, at, 3.2); }

double plateau_gain(uint64_t seed, const std::string& candidate) {
  return 0.75 * std::floor(plateau_slope(seed, setting_of(candidate)) / 0.75) - 0.5;
}

std::vector<Step> plateau_moves(uint64_t seed, const std::string& candidate) {
  return one_knob_moves(kPlateau, seed, candidate, [seed](const Setting& at) {
    return plateau_slope(seed, at) - 0.5 + 0.6 * surprise(seed, "model", at);
  });
}

}  // namespace

extern const Landscape solstice_landscapes_plateau;
const Landscape solstice_landscapes_plateau = {
    .name = "plateau",
    .kind = "plateau",
    .about = "wide levels of equal gain",
    .moves = plateau_moves,
    .gain = plateau_gain,
    .works = [](uint64_t, const std::string&) { return true; },
};

}  // namespace solstice::search
