// Shrunken dims: small, unlike each other, and legal for both programs.
#include <algorithm>
#include <set>

#include "ir/bind.h"
#include "ir/equivalence.h"

namespace solstice::ir {
namespace {

constexpr int64_t kPeriod = 16;    // v mod 16 is kept: strides, parities and small radices see what they saw
constexpr int64_t kKeptDim = 24;   // a dim this small is left as it is

// Dims that are literals at the top of the problem: the others follow from them.
std::vector<std::pair<std::string, int64_t>> literal_dims(const lang::Program& program) {
  std::vector<std::pair<std::string, int64_t>> out;
  for (const lang::Item& item : program.items) {
    const auto* dims = std::get_if<lang::Dims>(&item.node);
    if (!dims) continue;
    for (const lang::Dim& d : dims->dims) {
      if (d.value && d.value->kind == lang::ExprKind::kInt) out.emplace_back(d.name, d.value->integer);
    }
  }
  return out;
}

bool legal(const lang::Program& program, const std::vector<std::pair<std::string, int64_t>>& dims) {
  Diagnostics diagnostics;
  return bind(lang::with_dims(program, dims), diagnostics).has_value();
}

// Values from `base` upwards, congruent to the real ones, no two equal where the real ones differ.
std::vector<std::pair<std::string, int64_t>> assignment(const std::vector<std::pair<std::string, int64_t>>& real,
                                                        int64_t base, int64_t period) {
  std::vector<std::pair<std::string, int64_t>> out;
  std::set<int64_t> used;
  for (const auto& [name, value] : real) {
    int64_t v = value;
    if (value > kKeptDim || value > base + period) {
      v = base + ((value - base) % period + period) % period;
      while (used.count(v) && v + period < value) v += period;
    }
    used.insert(v);
    out.emplace_back(name, v);
  }
  return out;
}

}  // namespace

std::vector<std::pair<std::string, int64_t>> shrunken_dims(const lang::Program& problem, const lang::Program& candidate,
                                                           int attempt) {
  const auto real = literal_dims(problem);
  if (real.empty()) return {};
  // Bases and periods from the smallest up: the first that both programs accept.
  const std::pair<int64_t, int64_t> choices[] = {{5, 2}, {5, 4}, {6, 6}, {8, 8}, {5, kPeriod}, {9, kPeriod}, {17, 2 * kPeriod}, {33, 64}};
  for (const auto& [base, period] : choices) {
    const auto dims = assignment(real, base + attempt, period);
    if (legal(problem, dims) && legal(candidate, dims)) return dims;
  }
  return {};
}

}  // namespace solstice::ir
