// Random numbers: tensors that are drawn once a call, and dropout by them.
#include <fmt/format.h>

#include <cmath>

#include "import/rules.h"

namespace solstice::importer {
namespace {

std::string number_text(double value) { return (value < 0 ? "-" : "") + real(std::abs(value))->text; }

// random r : dtype[axes] from distribution(a, b)
Value drawn(Call& call, const std::string& wish, const Axes& axes, DType dtype, const std::string& distribution) {
  const int id = call.draft().declare(wish, axes, dtype);
  DraftTensor& tensor = call.draft().tensors[static_cast<size_t>(id)];
  tensor.kind = DraftKind::kRandom;
  tensor.distribution = distribution;
  return call.draft().whole(id, axes);
}

Result<Axes> result_axes(Call& call) {
  Axes out;
  if (!call.has("self")) {
    for (const int64_t extent : call.out_shape()) out.push_back(call.loops().fresh_axis(extent));
    return out;
  }
  SOLSTICE_TRY(const Value like, call.tensor("self"));
  for (const Axis& axis : like.axes) out.push_back(call.loops().align(axis));
  return out;
}

Status yield_drawn(Call& call, const std::string& distribution) {
  SOLSTICE_TRY(const Axes axes, result_axes(call));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  return call.yield(drawn(call, call.wish(), axes, dtype, distribution));
}

Status standard_uniform(Call& call) { return yield_drawn(call, "uniform(0, 1)"); }
Status standard_normal(Call& call) { return yield_drawn(call, "normal(0, 1)"); }

Status two_parameters(Call& call, const char* distribution, const char* first, const char* second) {
  SOLSTICE_TRY(const double a, call.number(first));
  SOLSTICE_TRY(const double b, call.number(second));
  return yield_drawn(call, fmt::format("{}({}, {})", distribution, number_text(a), number_text(b)));
}
Status uniform(Call& call) { return two_parameters(call, "uniform", "from", "to"); }
Status normal(Call& call) { return two_parameters(call, "normal", "mean", "std"); }

Status exponential(Call& call) {
  SOLSTICE_TRY(const double rate, call.number("lambd"));
  return yield_drawn(call, fmt::format("exponential({})", number_text(rate)));
}

Status integers(Call& call) {
  int64_t low = 0;
  if (call.has("low")) {
    SOLSTICE_TRY(low, call.integer("low"));
  }
  SOLSTICE_TRY(const int64_t high, call.integer("high"));
  return yield_drawn(call, fmt::format("randint({}, {})", low, high));
}

// Zeros and ones in the result's dtype.
Status bernoulli(Call& call) {
  SOLSTICE_TRY(const double p, call.number("p"));
  SOLSTICE_TRY(const Axes axes, result_axes(call));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  const Value keep = drawn(call, "keep", axes, DType::kBool, fmt::format("bernoulli({})", number_text(p)));
  return call.yield(call.draft().define(call.wish(), axes, select(keep.term, integer(1), integer(0)), dtype));
}

// keep ~ bernoulli(1-p); y = x*keep/(1-p), which is NaN where x is infinite and dropped
Status dropout(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("input"));
  SOLSTICE_TRY(const double p, call.number("p"));
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  bool train = true;
  if (!call.is_none("train")) {
    SOLSTICE_TRY(train, call.flag("train"));
  }
  Axes axes;
  for (const Axis& axis : x.axes) axes.push_back(call.loops().align(axis));
  if (!train || p == 0) {
    SOLSTICE_CHECK(call.yield(0, x));
    return call.yield(1, {axes, literal("true"), DType::kBool});
  }
  const Value keep = drawn(call, "keep", axes, DType::kBool, fmt::format("bernoulli({})", number_text(1 - p)));
  const TermRef scale = rounded_scalar(p == 1 ? 0 : 1 / (1 - p), dtype);
  const TermRef element = read_at(x, flat_all(axes, call.loops()), call.loops());
  SOLSTICE_CHECK(call.yield(0, call.draft().define(call.wish(), axes, element * keep.term * scale, dtype)));
  return call.yield(1, keep);
}

}  // namespace

const RuleGroup kDrawRules = {
    "draw",
    {
        {"aten.native_dropout.default", dropout},
        {"aten.bernoulli.p", bernoulli},
        {"aten.rand.default", standard_uniform},
        {"aten.rand_like.default", standard_uniform},
        {"aten.randn.default", standard_normal},
        {"aten.randn_like.default", standard_normal},
        {"aten.uniform.default", uniform},
        {"aten.normal_functional.default", normal},
        {"aten.exponential.default", exponential},
        {"aten.randint.default", integers},
        {"aten.randint.low", integers},
        {"aten.randint_like.default", integers},
        {"aten.randint_like.low_dtype", integers},
    },
};

}  // namespace solstice::importer
