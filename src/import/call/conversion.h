// Conversions between dtypes, as PyTorch makes them: written where they change a value, and only there.
#pragma once

#include "import/call/call.h"

namespace solstice::importer {

// Every value of `from` is one of `to`.
bool holds_all_of(DType to, DType from);

// The conversion changes some value that `x` may have.
bool changes_values(const Call& call, const Value& x, DType to);

// `term`, whose values are those of `x`, in another dtype: real made integral truncates, what the format has no place
// for is rounded, true is 1, everything but 0 is true. The term itself where that changes no value.
TermRef converted(Call& call, const Value& x, const TermRef& term, DType to);

// The value in another dtype.
Value as_dtype(Call& call, Value x, DType to);

// An operand that takes part in arithmetic of a narrow format (f16, bf16): an integer is rounded to it first.
Value promoted(Call& call, Value x, DType to);

// 0, or false.
TermRef zero_of(DType dtype);

// The reducer of elements of `dtype`: a sum of truths, stored as a truth, is whether any holds, a product whether all
// do.
std::string reducer_of(const std::string& reducer, DType dtype);

// The number `name` as an element of a tensor of `dtype`.
Result<TermRef> element_of(Call& call, const char* name, DType dtype);

}  // namespace solstice::importer
