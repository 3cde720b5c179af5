#include "ir/interpret/places.h"

#include <algorithm>
#include <cstdlib>

namespace solstice::ir {

Places::Places(const Program& program, const Equation& equation) : free_(equation.free.size()) {
  const Tensor& target = program.target_of(equation);
  for (size_t d = 0; d < equation.lhs.size(); ++d) {
    const Affine form = *as_affine(equation.lhs[d]);
    Dim dim;
    dim.extent = target.shape[d];
    dim.offset = form.offset;
    for (const auto& [id, c] : form.terms) {
      const auto found = std::find(equation.free.begin(), equation.free.end(), id);
      dim.terms.push_back(
          {static_cast<size_t>(found - equation.free.begin()), c, equation.indices[static_cast<size_t>(id)].extent});
    }
    std::sort(dim.terms.begin(), dim.terms.end(),
              [](const Term& a, const Term& b) { return std::abs(a.coefficient) > std::abs(b.coefficient); });
    dims_.push_back(std::move(dim));
  }
}

bool Places::solve(int64_t position, std::vector<int64_t>& values) const {
  values.assign(free_, 0);
  for (size_t d = dims_.size(); d-- > 0;) {
    const Dim& dim = dims_[d];
    int64_t rest = position % dim.extent - dim.offset;
    position /= dim.extent;
    // An index with a negative coefficient is counted from its other end.
    for (const Term& t : dim.terms) rest -= t.coefficient < 0 ? t.coefficient * (t.extent - 1) : 0;
    for (const Term& t : dim.terms) {
      const int64_t step = std::abs(t.coefficient);
      const int64_t count = rest < 0 ? -1 : std::min(rest / step, t.extent - 1);
      if (count < 0) return false;
      values[t.index] = t.coefficient < 0 ? t.extent - 1 - count : count;
      rest -= count * step;
    }
    if (rest != 0) return false;
  }
  return true;
}

int64_t Places::position(const std::vector<int64_t>& values) const {
  int64_t out = 0;
  for (const Dim& dim : dims_) {
    int64_t at = dim.offset;
    for (const Term& t : dim.terms) at += t.coefficient * values[t.index];
    out = out * dim.extent + at;
  }
  return out;
}

}  // namespace solstice::ir
