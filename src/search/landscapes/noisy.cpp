// A smooth slope with some interactions, and measurements that are off by a tenth.
#include "search/knobs.h"

namespace solstice::search {
namespace {

constexpr Knobs kNoisy{.count = 6, .values = 5, .openings = 3};

double noisy_gain(uint64_t seed, const std::string& candidate) {
  const Setting at = setting_of(candidate);
  return separable(kNoisy, seed, at, 2.5) + 0.25 * surprise(seed, "gain", at) - 0.8;
}

std::vector<Step> noisy_moves(uint64_t seed, const std::string& candidate) {
  return one_knob_moves(kNoisy, seed, candidate, [seed](const Setting& at) {
    return separable(kNoisy, seed, at, 2.5) - 0.8 + 0.8 * surprise(seed, "model", at);
  });
}

}  // namespace

extern const Landscape solstice_landscapes_noisy;
const Landscape solstice_landscapes_noisy = {
    .name = "noisy",
    .kind = "noisy",
    .about = "a slope, measured with a tenth of noise",
    .moves = noisy_moves,
    .gain = noisy_gain,
    .works = [](uint64_t, const std::string&) { return true; },
    .noise = 0.1,
};

}  // namespace solstice::search
