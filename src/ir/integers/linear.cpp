#include "ir/integers/linear.h"

#include <algorithm>
#include <limits>

#include "base/integer.h"

namespace solstice::ir {

ValueRange operator+(const ValueRange& a, const ValueRange& b) {
  const ValueRange sum = ValueRange::of(Wide{a.low} + b.low, Wide{a.high} + b.high);
  return {a.has_low() && b.has_low() ? sum.low : ValueRange::kNoLow,
          a.has_high() && b.has_high() ? sum.high : ValueRange::kNoHigh};
}

// An open end takes part as the end of 64 bits: times a number that is not 0 it leaves what is kept, and is open again.
ValueRange operator*(const ValueRange& a, const ValueRange& b) {
  const Wide corners[] = {Wide{a.low} * b.low, Wide{a.low} * b.high, Wide{a.high} * b.low, Wide{a.high} * b.high};
  return ValueRange::of(*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4));
}

Linear plus(const Linear& a, const Linear& b, int64_t factor) {
  Linear out;
  out.overflow = a.overflow || b.overflow || !add_scaled(a.constant, factor, b.constant, out.constant);
  size_t i = 0;
  size_t j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    const int va = i < a.terms.size() ? a.terms[i].first : std::numeric_limits<int>::max();
    const int vb = j < b.terms.size() ? b.terms[j].first : std::numeric_limits<int>::max();
    int64_t coefficient = 0;
    if (va <= vb) coefficient += a.terms[i++].second;
    if (vb <= va) out.overflow |= !add_scaled(coefficient, factor, b.terms[j++].second, coefficient);
    if (coefficient != 0) out.terms.emplace_back(std::min(va, vb), coefficient);
  }
  return out;
}

}  // namespace solstice::ir
