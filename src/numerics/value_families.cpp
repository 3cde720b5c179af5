#include "numerics/value_families.h"

namespace solstice::numerics {

const std::vector<ValueFamily>& value_families() {
  static const std::vector<ValueFamily> table = {
      {"default", "what the module's get_inputs() gives, drawn anew", "any fault on ordinary data", {}, Data::kRandomSign, true, false},
      {"normal",
       "independent, mean 0, standard deviation 1",
       "wrong tiles, indices, masks",
       {{"deviation", 1}},
       Data::kRandomSign,
       true,
       false},
      {"uniform", "uniform over [-1, 1)", "faults that cancel on normal data", {{"low", -1}, {"high", 1}}, Data::kRandomSign, true, false},
      {"positive", "uniform over [0, 1)", "one-sided truncation of tensor cores", {{"low", 0}, {"high", 1}}, Data::kPositive, true, false},
      {"one_outlier", "normal, one element 2^20", "a scale taken over too many elements", {{"exponent", 20}}, Data::kOutlier, true, false},
      {"balanced_outliers",
       "every 32nd channel times 2^20, its partner's times 2^-20",
       "splits that cannot hold a row's range, and a guard that does not see it",
       {{"exponent", 20}, {"share", 32}},
       Data::kRandomSign,
       true,
       true},
      {"heavy_ends",
       "normal, the last element of each of the last two axes times 2^10",
       "a lost tail, which a long sum of equal terms would hide",
       {{"exponent", 10}},
       Data::kOutlier,
       true,
       false},
      {"mixed_scales",
       "normal times 2^e, e uniform in -20..20",
       "lost low planes, reductions in too narrow a format",
       {{"exponent", 20}},
       Data::kOutlier,
       true,
       false},
      {"zero_channels",
       "mixed_scales, about every second index of the last axis 0",
       "a range guard that takes zeros for what its planes hold, or for what they lose",
       {{"exponent", 20}, {"share", 0.5}},
       Data::kOutlier,
       true,
       false},
      {"zeros", "zeros of both signs", "division by a row's maximum, 0/0", {}, Data::kRandomSign, true, false},
      {"subnormals", "below the smallest normal number, both signs", "scales that overflow, flushing", {}, Data::kRandomSign, true, false},
      {"extreme_logits", "normal times 100", "exp without the maximum subtracted", {{"factor", 100}}, Data::kOutlier, true, false},
      {"ties",
       "integers -1..2",
       "which of equal elements argmax, max and top-k take",
       {{"low", -1}, {"high", 2}},
       Data::kRandomSign,
       true,
       false},
      {"nan_inf",
       "normal, a few NaN, Inf and -Inf",
       "NaN swallowed by max, Inf turned NaN in more places than PyTorch's",
       {{"one_in", 4096}},
       Data::kRandomSign,
       false,
       false},
  };
  return table;
}

const ValueFamily* find_value_family(std::string_view name) {
  for (const ValueFamily& family : value_families()) {
    if (family.name == name) return &family;
  }
  return nullptr;
}

}  // namespace solstice::numerics
