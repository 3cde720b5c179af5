// Truth values, and bits of integers.
#include <cstdint>

#include "import/draft/value_range.h"
#include "import/rules.h"

namespace solstice::importer {
namespace {

// A value's truth, as PyTorch takes it.
TermRef truth_of(const Call& call, const Value& value, const TermRef& term) {
  if (value.dtype == DType::kBool) return term;
  return binary("!=", value.is_stored() ? as_stored(call, value, term) : term, integer(0));
}

template <const char* Op>
Status logical(Call& call) {
  SOLSTICE_TRY(const Value a, call.tensor("self"));
  SOLSTICE_TRY(const Value b, operand(call, "other", a.dtype));
  return yield_pointwise(call, {a, b}, DType::kBool,
                         [&](const Terms& t) { return binary(Op, truth_of(call, a, t[0]), truth_of(call, b, t[1])); });
}
constexpr char kBothTrue[] = "and", kEitherTrue[] = "or", kOneTrue[] = "!=";

Status logical_not(Call& call) {
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  return yield_pointwise(call, {x}, DType::kBool, [&](const Terms& t) {
    if (x.dtype == DType::kBool) return importer::logical_not(t[0]);
    return binary("==", as_stored(call, x, t[0]), integer(0));
  });
}

// The bits of two integers of which f makes those of the result, by the bits that both have.
Status of_bits(Call& call, TermRef (*f)(const TermRef& a, const TermRef& b, const TermRef& common)) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  SOLSTICE_TRY(const Value a, operand(call, "self", dtype));
  SOLSTICE_TRY(const Value b, operand(call, "other", dtype));
  return yield_pointwise(call, {a, b}, dtype, [&](const Terms& t) {
    return f(t[0], t[1], apply("bit_and", {t[0], t[1]}));
  });
}

Status bitwise_or(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (dtype == DType::kBool) return logical<kEitherTrue>(call);
  return of_bits(call, [](const TermRef& a, const TermRef& b, const TermRef& common) { return a + (b - common); });
}

Status bitwise_xor(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (dtype == DType::kBool) return logical<kOneTrue>(call);
  return of_bits(call,
                 [](const TermRef& a, const TermRef& b, const TermRef& common) { return (a - common) + (b - common); });
}

// x & (2**k - 1) keeps the lowest k bits, of negative integers too: x % 2**k.
Status bitwise_and(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (dtype == DType::kBool) return logical<kBothTrue>(call);
  const Json& mask = call.argument("other");
  if (mask.is_int() && mask.as_int() > 0 && mask.as_int() < INT32_MAX && (mask.as_int() & (mask.as_int() + 1)) == 0) {
    return map_self(call, [&](const TermRef& x) { return binary("%", x, integer(mask.as_int() + 1)); });
  }
  return of_bits(call, [](const TermRef&, const TermRef&, const TermRef& common) { return common; });
}

// -x - 1
Status bitwise_not(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (dtype == DType::kBool) return logical_not(call);
  return map_self(call,
                  [&](const TermRef& x) { return dtype == DType::kU8 ? integer(255) - x : negate(x) - integer(1); });
}

// By a number of places: x * 2**k, x // 2**k. Below 0, or by all the bits that there are, nothing but the sign is left.
template <const char* Op>
Status shift(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (!is_integer(dtype)) return call.unsupported("only integers are shifted");
  SOLSTICE_TRY(const Value x, operand(call, "self", dtype));
  SOLSTICE_TRY(const Value by, operand(call, "other", dtype));
  const int64_t bits = 8 * size_of(dtype);
  const Json& places = call.argument("other");
  return yield_pointwise(call, {x, by}, dtype, [&](const Terms& t) {
    const bool is_left = Op == std::string("*");
    const TermRef emptied = is_left || dtype == DType::kU8
                                ? integer(0)
                                : importer::select(binary("<", t[0], integer(0)), integer(-1), integer(0));
    if (places.is_int() && (places.as_int() < 0 || places.as_int() >= bits)) return emptied;
    if (places.is_int() && places.as_int() < 63) return binary(Op, t[0], integer(int64_t{1} << places.as_int()));
    const TermRef shifted = binary(Op, t[0], apply("i64", {binary("**", integer(2), t[1])}));
    const auto bounds = bounds_of(call.draft(), t[1]);
    if (bounds && bounds->low >= 0 && bounds->high < static_cast<double>(bits)) return shifted;
    const TermRef inside = binary("and", binary(">=", t[1], integer(0)), binary("<", t[1], integer(bits)));
    return importer::select(inside, shifted, emptied);
  });
}
constexpr char kShiftLeft[] = "*", kShiftRight[] = "//";

}  // namespace

const RuleGroup kLogicRules = {
    "logic",
    {
        {"aten.logical_and.default", logical<kBothTrue>},
        {"aten.logical_or.default", logical<kEitherTrue>},
        {"aten.logical_xor.default", logical<kOneTrue>},
        {"aten.logical_not.default", logical_not},
        {"aten.bitwise_and.Tensor", bitwise_and},
        {"aten.bitwise_and.Scalar", bitwise_and},
        {"aten.__and__.Tensor", bitwise_and},
        {"aten.__and__.Scalar", bitwise_and},
        {"aten.bitwise_or.Tensor", bitwise_or},
        {"aten.bitwise_or.Scalar", bitwise_or},
        {"aten.__or__.Tensor", bitwise_or},
        {"aten.__or__.Scalar", bitwise_or},
        {"aten.bitwise_xor.Tensor", bitwise_xor},
        {"aten.bitwise_xor.Scalar", bitwise_xor},
        {"aten.__xor__.Tensor", bitwise_xor},
        {"aten.__xor__.Scalar", bitwise_xor},
        {"aten.bitwise_not.default", bitwise_not},
        {"aten.bitwise_left_shift.Tensor_Scalar", shift<kShiftLeft>},
        {"aten.bitwise_right_shift.Tensor_Scalar", shift<kShiftRight>},
        {"aten.__lshift__.Scalar", shift<kShiftLeft>},
        {"aten.__rshift__.Scalar", shift<kShiftRight>},
        {"aten.bitwise_left_shift.Tensor", shift<kShiftLeft>},
        {"aten.bitwise_right_shift.Tensor", shift<kShiftRight>},
        {"aten.bitwise_left_shift.Scalar_Tensor", shift<kShiftLeft>},
        {"aten.bitwise_right_shift.Scalar_Tensor", shift<kShiftRight>},
        {"aten.__lshift__.Tensor", shift<kShiftLeft>},
        {"aten.__rshift__.Tensor", shift<kShiftRight>},
        {"aten.bitwise_and.Scalar_Tensor", bitwise_and},
        {"aten.bitwise_or.Scalar_Tensor", bitwise_or},
        {"aten.bitwise_xor.Scalar_Tensor", bitwise_xor},
    },
};

}  // namespace solstice::importer
