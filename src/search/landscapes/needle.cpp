// One setting of thousands is very good, and nothing points to it: every policy is as good as luck.
#include "search/knobs.h"

namespace solstice::search {
namespace {

constexpr Knobs kNeedle{.count = 5, .values = 5, .openings = 3};

double needle_gain(uint64_t seed, const std::string& candidate) {
  const Setting at = setting_of(candidate);
  return at == hidden(kNeedle, seed, "needle") ? 3.0 : 0.1 * surprise(seed, "gain", at);
}

std::vector<Step> needle_moves(uint64_t seed, const std::string& candidate) {
  return one_knob_moves(kNeedle, seed, candidate,
                        [seed](const Setting& at) { return 0.1 * surprise(seed, "model", at); });
}

}  // namespace

extern const Landscape solstice_landscapes_needle;
const Landscape solstice_landscapes_needle = {
    .name = "needle",
    .kind = "needle",
    .about = "one setting of 3125 is eight times as fast, the others are alike",
    .moves = needle_moves,
    .gain = needle_gain,
    .works = [](uint64_t, const std::string&) { return true; },
};

}  // namespace solstice::search
