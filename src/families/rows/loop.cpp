#include "families/rows/loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/integer.h"
#include "families/reduction/accumulate.h"
#include "families/reduction/row_access.h"

namespace solstice::families::rows {
namespace {

constexpr int64_t kLongestRun = 64;  // steps that a thread adds one after the other
constexpr int64_t kUnrolled = 4;     // steps of a loop that holds nothing in registers

std::string step_text(const Shape& shape, const Settings& s, bool stops) {
  const bool wide = column_type(shape, s.vector) == codegen::CType::kI64;
  std::string out = fmt::format("[[maybe_unused]] const {0} c = {1} * {2} + position;\n", wide ? "long long" : "int",
                                wide ? "static_cast<long long>(k)" : "k", int64_t{s.group} * s.sharers());
  if (stops) out += fmt::format("if (c >= {}) break;\n", ceil_div(shape.column_count, s.vector));
  return out;
}

}  // namespace

LoopText plain_loop(const Shape& shape, const Settings& s) {
  const int64_t steps = s.steps(shape);
  const int64_t unrolled = s.residency == Residency::kRegisters ? steps : std::min<int64_t>(steps, kUnrolled);
  return {fmt::format("#pragma unroll {}\nfor (int k = 0; k < {}; ++k) {{\n{}", unrolled, steps,
                      step_text(shape, s, s.ragged(shape))),
          "}\n"};
}

bool in_runs(const Shape& shape, const Settings& s, const std::vector<Reduction>& reductions) {
  const bool sums = std::any_of(reductions.begin(), reductions.end(), [](const Reduction& r) { return r.rounds(); });
  return sums && s.steps(shape) > kLongestRun && s.residency != Residency::kRegisters;
}

LoopText loop_in_runs(const Shape& shape, const Settings& s, const std::vector<Reduction>& reductions) {
  const int64_t steps = s.steps(shape);
  const auto run = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::sqrt(static_cast<double>(steps)))));
  const std::string step = step_text(shape, s, s.ragged(shape) || steps % run != 0);
  return {fmt::format("#pragma unroll 1\nfor (int first = 0; first < {}; first += {}) {{\n{}#pragma unroll {}\nfor "
                      "(int k = first; k < first + {}; ++k) {{\n{}",
                      steps, run, start_run(reductions, s.vector), kUnrolled, run, step),
          "}\n" + end_run(reductions, s.vector) + "}\n"};
}

}  // namespace solstice::families::rows
