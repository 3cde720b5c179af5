#include "ir/integers/linear.h"

#include <algorithm>
#include <limits>

#include "base/integer.h"

namespace solstice::ir {

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
