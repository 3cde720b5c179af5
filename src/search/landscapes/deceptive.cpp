// Two summits: the model and most neighbours point to the lower one; the higher one lies where three knobs are changed
// together.
#include <algorithm>

#include "search/knobs.h"

namespace solstice::search {
namespace {

constexpr Knobs kDeceptive{.count = 6, .values = 5, .openings = 4};

double nearness(const Setting& a, const Setting& b) {
  int far = 0;
  for (size_t k = 0; k < a.size(); ++k) far += std::abs(a[k] - b[k]);
  return 1 - far / 24.0;
}

double deceptive_gain(uint64_t seed, const std::string& candidate) {
  const Setting at = setting_of(candidate);
  const double low = 1.8 * nearness(at, hidden(kDeceptive, seed, "low"));
  const double near = nearness(at, hidden(kDeceptive, seed, "high"));
  return std::max(low, near > 0.7 ? 3.0 * near : 0) - 0.5 + 0.1 * surprise(seed, "gain", at);
}

std::vector<Step> deceptive_moves(uint64_t seed, const std::string& candidate) {
  return one_knob_moves(kDeceptive, seed, candidate, [seed](const Setting& at) {
    return 1.8 * nearness(at, hidden(kDeceptive, seed, "low")) - 0.5 + 0.5 * surprise(seed, "model", at);
  });
}

}  // namespace

extern const Landscape solstice_landscapes_deceptive;
const Landscape solstice_landscapes_deceptive = {
    .name = "deceptive",
    .kind = "deceptive",
    .about = "the model leads to the lower of two summits",
    .moves = deceptive_moves,
    .gain = deceptive_gain,
    .works = [](uint64_t, const std::string&) { return true; },
};

}  // namespace solstice::search
