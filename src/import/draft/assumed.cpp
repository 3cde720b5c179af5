#include "import/draft/assumed.h"

#include <algorithm>
#include <cmath>

namespace solstice::importer {
namespace {

double number(const Json& value) {
  const Json* special = value.find("float");
  if (!special) return value.as_double();
  return special->as_string() == "-inf" ? -HUGE_VAL : HUGE_VAL;
}

// A comparison is a number itself where the two values are 1 and 0.
TermRef either(const ClosedForm& form, DType dtype, const TermRef& row, const TermRef& column) {
  const bool triangle = form.kind == ClosedFormKind::kTriangle;
  const double inside = number(form.value), outside = number(form.otherwise);
  const TermRef diagonal =
      form.diagonal == 0 ? row : (form.diagonal > 0 ? row + integer(form.diagonal) : row - integer(-form.diagonal));
  if (inside == 1 && outside == 0) return binary(triangle ? "<=" : "==", column, diagonal);
  if (inside == 0 && outside == 1) return binary(triangle ? ">" : "!=", column, diagonal);
  const auto written = [&](double value) {
    return is_float(dtype) ? real(value) : integer(static_cast<int64_t>(value));
  };
  return select(binary(triangle ? "<=" : "==", column, diagonal), written(inside), written(outside));
}

TermRef range(const ClosedForm& form, const TermRef& place) {
  const int64_t first = form.value.is_int() ? form.value.as_int() : static_cast<int64_t>(form.value.as_double());
  const TermRef steps = form.step == 1 ? place : integer(form.step) * place;
  return first == 0 ? steps : steps + integer(first);
}

}  // namespace

DraftEquation closed_form_equation(Draft& draft, int tensor) {
  const DraftTensor& buffer = draft.tensors[static_cast<size_t>(tensor)];
  const ClosedForm& form = *buffer.closed_form;
  static const std::vector<std::string> letters = {"i", "j"};
  std::vector<Index> at;
  for (const Size& extent : buffer.shape) {
    if (extent.value() == 1) {
      at.emplace_back(0);
      continue;
    }
    const auto place =
        std::find(form.axes.begin(), form.axes.end(), static_cast<int64_t>(at.size())) - form.axes.begin();
    const std::string hint = place < 2 ? letters[static_cast<size_t>(place)] : "";
    at.push_back(index_of(draft.loops().fresh(draft.dims().literal(extent.value()), hint)));
  }
  const auto along = [&](size_t axis) { return index_value(at[static_cast<size_t>(form.axes[axis])]); };
  const bool is_range = form.kind == ClosedFormKind::kArange;
  return {tensor, at, is_range ? range(form, along(0)) : either(form, buffer.dtype, along(0), along(1))};
}

}  // namespace solstice::importer
