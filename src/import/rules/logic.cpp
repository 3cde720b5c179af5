// Truth values, and bits of integers where arithmetic says the same.
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

template <const char* Op>
Status bitwise(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (dtype != DType::kBool) return call.unsupported("the language has no operators on the bits of integers");
  return logical<Op>(call);
}

// x & (2**k - 1) keeps the lowest k bits, of negative integers too: x % 2**k.
Status bitwise_and(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (dtype == DType::kBool || call.argument("other").find("t")) return bitwise<kBothTrue>(call);
  SOLSTICE_TRY(const int64_t mask, call.integer("other"));
  if (mask < 1 || (mask & (mask + 1)) != 0)
    return call.unsupported("the language has no operators on the bits of integers");
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  return yield_pointwise(call, {x}, dtype, [&](const Terms& t) { return binary("%", t[0], integer(mask + 1)); });
}

// -x - 1
Status bitwise_not(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (dtype == DType::kBool) return logical_not(call);
  return map_self(call,
                  [&](const TermRef& x) { return dtype == DType::kU8 ? integer(255) - x : negate(x) - integer(1); });
}

// By a number of places that the graph knows: x * 2**k, x // 2**k.
template <const char* Op>
Status shift(Call& call) {
  SOLSTICE_TRY(const DType dtype, call.out_dtype());
  if (!is_integer(dtype)) return call.unsupported("only integers are shifted");
  if (call.argument("other").find("t"))
    return call.unsupported("the language has no operators on the bits of integers");
  SOLSTICE_TRY(const int64_t places, call.integer("other"));
  if (places < 0 || places > 31) return call.unsupported("a shift by as many places has no equations");
  SOLSTICE_TRY(const Value x, call.tensor("self"));
  return yield_pointwise(call, {x}, dtype,
                         [&](const Terms& t) { return binary(Op, t[0], integer(int64_t{1} << places)); });
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
        {"aten.bitwise_or.Tensor", bitwise<kEitherTrue>},
        {"aten.bitwise_or.Scalar", bitwise<kEitherTrue>},
        {"aten.__or__.Tensor", bitwise<kEitherTrue>},
        {"aten.__or__.Scalar", bitwise<kEitherTrue>},
        {"aten.bitwise_xor.Tensor", bitwise<kOneTrue>},
        {"aten.bitwise_xor.Scalar", bitwise<kOneTrue>},
        {"aten.__xor__.Tensor", bitwise<kOneTrue>},
        {"aten.__xor__.Scalar", bitwise<kOneTrue>},
        {"aten.bitwise_not.default", bitwise_not},
        {"aten.bitwise_left_shift.Tensor_Scalar", shift<kShiftLeft>},
        {"aten.bitwise_right_shift.Tensor_Scalar", shift<kShiftRight>},
        {"aten.__lshift__.Scalar", shift<kShiftLeft>},
        {"aten.__rshift__.Scalar", shift<kShiftRight>},
    },
};

}  // namespace solstice::importer
