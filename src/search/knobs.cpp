#include "search/knobs.h"

#include <algorithm>
#include <cstdlib>

namespace solstice::search {

std::string text_of(std::span<const int> setting) {
  std::string out;
  for (const int value : setting) out += (out.empty() ? "" : ",") + std::to_string(value);
  return out;
}

Setting setting_of(const std::string& candidate) {
  Setting out;
  for (const char c : candidate) {
    if (c == ',') continue;
    out.push_back(c - '0');
  }
  return out;
}

uint64_t number_of(std::span<const int> setting, uint64_t base) {
  uint64_t number = 0;
  for (const int value : setting) number = number * base + static_cast<uint64_t>(value);
  return number;
}

std::vector<Step> one_knob_moves(const Knobs& knobs, uint64_t seed, const std::string& candidate,
                                 const std::function<double(const Setting&)>& predict) {
  std::vector<Step> out;
  const auto add = [&](const Setting& setting) { out.push_back({text_of(setting), predict(setting)}); };
  if (candidate.empty()) {
    for (int i = 0; i < knobs.openings; ++i) add(hidden(knobs, seed, "opening" + std::to_string(i)));
  } else {
    const Setting from = setting_of(candidate);
    for (size_t k = 0; k < from.size(); ++k) {
      for (int value = 0; value < knobs.values; ++value) {
        if (value == from[k]) continue;
        Setting to = from;
        to[k] = value;
        add(to);
      }
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Step& a, const Step& b) { return a.predicted_gain > b.predicted_gain; });
  return out;
}

double surprise(uint64_t seed, std::string_view name, const Setting& setting) {
  uint64_t number = 0;
  for (const int value : setting) number = number * 16 + static_cast<uint64_t>(value) + 1;
  return Random(seed, name, number).normal();
}

Setting hidden(const Knobs& knobs, uint64_t seed, std::string_view name) {
  Random random(seed, name);
  Setting out;
  for (int k = 0; k < knobs.count; ++k)
    out.push_back(static_cast<int>(random.below(static_cast<size_t>(knobs.values))));
  return out;
}

double separable(const Knobs& knobs, uint64_t seed, const Setting& setting, double most) {
  const Setting best = hidden(knobs, seed, "best");
  Random random(seed, "weights");
  double sum = 0, all = 0;
  for (size_t k = 0; k < setting.size(); ++k) {
    const double weight = 0.2 + random.uniform();
    const double far = std::abs(setting[k] - best[k]) / static_cast<double>(knobs.values - 1);
    sum += weight * (1 - far);
    all += weight;
  }
  return most * sum / all;
}

}  // namespace solstice::search
