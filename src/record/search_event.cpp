#include "record/search_event.h"

#include <algorithm>
#include <cmath>

namespace solstice::search {
namespace {

double middle_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::vector<const char*> enum_names(Precision) { return {"rough", "usual", "precise"}; }
std::vector<const char*> enum_names(Author) { return {"other", "model"}; }
std::vector<const char*> enum_names(Event::Kind) {
  return {"proposed", "skipped", "again", "measured", "lost", "spent", "opened", "noted"};
}

double noise_of_median(const std::vector<double>& samples, double time) {
  if (samples.size() < 3 || time <= 0) return 0;
  const double middle = middle_of(samples);
  std::vector<double> deviations;
  for (const double sample : samples) deviations.push_back(std::abs(sample - middle));
  return 1.2533 * 1.4826 * middle_of(std::move(deviations)) / std::sqrt(static_cast<double>(samples.size())) / time;
}

double noise_of(const Measurement& measurement) {
  if (measurement.noise > 0) return measurement.noise;
  std::vector<double> samples;
  for (const Json& sample : measurement.record.at("seconds").items()) samples.push_back(sample.as_double());
  return noise_of_median(samples, measurement.time.value);
}

}  // namespace solstice::search
