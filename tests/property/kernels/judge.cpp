#include "property/kernels/judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "ir/equivalence/testing.h"
#include "ir/interpret/rounding.h"

namespace solstice::random_kernels {
namespace {

// Whether a result near `wanted` may be beyond what the format holds: then it is infinite, or NaN where there are no
// infinities.
bool may_overflow(DType dtype, double got, double wanted, double limit) {
  return !std::isfinite(ir::rounded(dtype, std::abs(wanted) + limit)) &&
         (std::isnan(got) || std::signbit(got) == std::signbit(wanted));
}

// In units of the limit; above 1 is wrong.
double error_of(DType dtype, double got, double wanted, const double* limit) {
  if (!std::isfinite(wanted)) return std::isfinite(got) ? HUGE_VAL : 0;
  if (got == wanted) return 0;
  if (!std::isfinite(got)) return limit && may_overflow(dtype, got, wanted, *limit) ? 0 : HUGE_VAL;
  if (!limit) return HUGE_VAL;
  const double computed = std::abs(got - wanted) - storage_error(dtype, std::abs(wanted) + *limit);
  return computed <= 0 ? 0 : computed / *limit;
}

void judge_output(const ir::Tensor& tensor, const Wanted& wanted, const std::vector<double>& got, Judged& out) {
  int64_t wrong = 0;
  size_t first = 0;
  for (size_t i = 0; i < wanted.values.size(); ++i) {
    const double* const limit = wanted.limits.empty() ? nullptr : &wanted.limits[i];
    ++out.elements;
    if (limit && std::isnan(*limit)) {
      ++out.unasked;
      continue;
    }
    const double error = error_of(*tensor.dtype, got[i], wanted.values[i], limit);
    if (error > 1 && wrong++ == 0) first = i;
    out.worst = std::max(out.worst, error);
  }
  if (wrong == 0 || !out.wrong.empty()) return;
  const double limit = wanted.limits.empty() ? 0 : wanted.limits[first];
  out.wrong = fmt::format("`{}[{}]` is {} instead of {} (limit {:.3g}; {} of {} elements are wrong)", tensor.name,
                          fmt::join(ir::index_at(static_cast<int64_t>(first), tensor.shape), ","), got[first],
                          wanted.values[first], limit, wrong, wanted.values.size());
}

}  // namespace

Judged judge(const ir::Program& program, const Expected& expected,
             const std::map<std::string, std::vector<double>>& got) {
  Judged out;
  for (const auto& [name, wanted] : expected.outputs) {
    judge_output(program.tensor(program.find_tensor(name)), wanted, got.at(name), out);
  }
  return out;
}

}  // namespace solstice::random_kernels
