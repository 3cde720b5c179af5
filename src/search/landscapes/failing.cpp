// Half of all candidates fail: some values of a knob for the most part, others by chance.
#include "search/knobs.h"

namespace solstice::search {
namespace {

constexpr Knobs kFailing{.count = 6, .values = 5, .openings = 5};

double failing_gain(uint64_t seed, const std::string& candidate) {
  const Setting at = setting_of(candidate);
  return separable(kFailing, seed, at, 3.0) + 0.2 * surprise(seed, "gain", at) - 0.8;
}

bool failing_works(uint64_t seed, const std::string& candidate) {
  const Setting at = setting_of(candidate), bad = hidden(kFailing, seed, "bad");
  int risky = 0;
  for (size_t k = 0; k < at.size(); ++k) risky += at[k] == bad[k] ? 1 : 0;
  return surprise(seed, "works", at) > -0.6 + 0.5 * risky;
}

std::vector<Step> failing_moves(uint64_t seed, const std::string& candidate) {
  return one_knob_moves(kFailing, seed, candidate, [seed](const Setting& at) {
    return separable(kFailing, seed, at, 3.0) - 0.8 + 0.7 * surprise(seed, "model", at);
  });
}

}  // namespace

extern const Landscape solstice_landscapes_failing;
const Landscape solstice_landscapes_failing = {
    .name = "failing",
    .kind = "failing",
    .about = "half of the candidates fail",
    .moves = failing_moves,
    .gain = failing_gain,
    .works = failing_works,
};

}  // namespace solstice::search
