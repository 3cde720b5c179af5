// The parts of the rules of `backend=lean`, and what they share.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "families/gemm/rules.h"

namespace solstice::families::gemm {

const Contraction& product_of(const LeanGemm& c);
const std::string& name_of_operand(const LeanGemm& c, bool first);
std::string_view math_name(const LeanGemm& c);

bool is_simt(const LeanGemm& c);
bool is_tiled(const LeanGemm& c);
bool is_streamed(const LeanGemm& c);
void stop_streaming(LeanGemm& c);

template <class Values>
int nearest_of(const Values& values, int wanted) {
  return *std::min_element(std::begin(values), std::end(values),
                           [&](int a, int b) { return std::abs(a - wanted) < std::abs(b - wanted); });
}

using LeanRules = std::vector<Rule<LeanGemm>>;
void add_stream_rules(LeanRules& rules);

}  // namespace solstice::families::gemm
