#include "import/call/conversion.h"

#include <cmath>

#include "import/call/pointwise.h"
#include "import/draft/finite.h"
#include "import/draft/value_range.h"
#include "ir/interpret/rounding.h"

namespace solstice::importer {
namespace {

constexpr double kLargestE4M3 = 448;

// PyTorch's integer of inf or NaN depends on the processor, and as a rule another branch discards it
// (the log of a distance of 0). The language stops there. In a closed form the branch is in the same equation.
TermRef finite(Call& call, const Value& x, const TermRef& stored) {
  if (!is_float(x.dtype) || !x.is_stored() || !may_be_infinite(call.draft(), stored)) return stored;
  call.note("inf and NaN become 0 among integers; PyTorch leaves open what they become");
  return importer::select(apply("isfinite", {stored}), stored, integer(0));
}

// Integers of this magnitude and below are all values of the format.
double exact_integers(DType dtype) { return 1 / unit_roundoff(dtype); }

// What the equations say of an integer keeps it among the exact ones of a float format.
bool stays_exact(const Draft& draft, const TermRef& term, DType to) {
  const auto bounds = bounds_of(draft, term);
  return bounds && bounds->low >= -exact_integers(to) && bounds->high <= exact_integers(to);
}

}  // namespace

bool holds_all_of(DType to, DType from) {
  if (to == from || from == DType::kBool) return true;
  if (is_float(to) != is_float(from) && !is_float(to)) return false;
  if (is_float(to) && is_float(from)) return size_of(to) > size_of(from);
  const ir::IntegerRange own = ir::integer_range(from);
  if (is_float(to)) return from != DType::kI64 && -exact_integers(to) <= own.low && own.high <= exact_integers(to);
  const ir::IntegerRange wide = ir::integer_range(to);
  return to != DType::kBool && wide.low <= own.low && own.high <= wide.high;
}

bool changes_values(const Call& call, const Value& x, DType to) {
  if (holds_all_of(to, x.dtype)) return false;
  return !is_float(to) || is_float(x.dtype) || !stays_exact(call.draft(), x.term, to);
}

TermRef converted(Call& call, const Value& x, const TermRef& term, DType to) {
  if (!changes_values(call, x, to)) return term;
  if (to == DType::kBool) return binary("!=", as_stored(call, x, term), integer(0));
  TermRef source = is_float(to) ? term : finite(call, x, as_stored(call, x, term));
  const bool wraps = is_short_integer(to) && (!is_float(x.dtype) || to == DType::kU8);
  if (wraps && !fits(call.draft(), source, to)) {
    if (is_float(x.dtype)) source = apply("i64", {std::move(source)});  // as PyTorch's, by way of a wide integer
    return wrapped_to(call.draft(), source, to);
  }
  if (to == DType::kE4M3 && call.fp8_saturates())
    source = apply("clamp", {std::move(source), real(-kLargestE4M3), real(kLargestE4M3)});
  return apply(std::string(name_of(to)), {std::move(source)});
}

Value as_dtype(Call& call, Value x, DType to) {
  x.term = converted(call, x, x.term, to);
  x.dtype = to;
  return x;
}

Value promoted(Call& call, Value x, DType to) {
  if (!is_float(to) || size_of(to) > 2 || is_float(x.dtype)) return x;
  return as_dtype(call, std::move(x), to);
}

TermRef zero_of(DType dtype) { return dtype == DType::kBool ? literal("false") : integer(0); }

std::string reducer_of(const std::string& reducer, DType dtype) {
  if (dtype != DType::kBool) return reducer;
  return reducer == "sum" || reducer == "max" ? "any" : reducer == "prod" || reducer == "min" ? "all" : reducer;
}

Result<TermRef> element_of(Call& call, const char* name, DType dtype) {
  if (is_float(dtype)) return call.scalar(name, dtype);
  SOLSTICE_TRY(const double value, call.number(name));
  if (dtype == DType::kBool) return literal(value != 0 ? "true" : "false");
  if (call.argument(name).is_int()) return call.scalar(name, dtype);
  if (!std::isfinite(value)) return call.unsupported("an integer that is infinite or NaN");
  return real(std::trunc(value));
}

}  // namespace solstice::importer
