// Pairs of integer programs that differ at large integers alone, at the ends of their types or next to powers of two:
// found different, or `unknown` where no test computes exactly; and equal pairs, which are not refuted.
#include <fmt/format.h>

#include "unit/ir/equivalence/asked.h"

namespace solstice::ir {
namespace {

struct IntegerPair {
  const char* name;
  const char* type;
  const char* first;
  const char* second;
  Verdict verdict;
};

std::string integer_program(const IntegerPair& pair, const char* value) {
  return fmt::format("dim M = 64\ninput i : {0}[M]\ninput j : {0}[M]\noutput y : i64[M]\ny[m] = {1}\n", pair.type,
                     value);
}

const IntegerPair kIntegerPairs[] = {
    {"a sum above 2^41", "i64", "select(i[m] + j[m] > 2199023255552, 1, 0)", "0 * i[m]", Verdict::kRefuted},
    {"a sum above 2^52", "i64", "select(i[m] + j[m] > 4503599627370496, 1, 0)", "0 * i[m]", Verdict::kRefuted},
    {"a sum above 2^53", "i64", "select(i[m] + j[m] > 9007199254740992, 1, 0)", "0 * i[m]", Verdict::kUnknown},
    {"a sum above a number that is no power", "i64", "select(i[m] + j[m] > 123456789012345, 1, 0)", "0 * i[m]",
     Verdict::kRefuted},
    {"above 2^53", "i64", "select(i[m] > 9007199254740992, 1, 0)", "0 * i[m]", Verdict::kUnknown},
    {"above 2^62", "i64", "select(i[m] > 4611686018427387904, 1, 0)", "0 * i[m]", Verdict::kUnknown},
    {"below -2^62", "i64", "select(i[m] < -4611686018427387904, 1, 0)", "0 * i[m]", Verdict::kUnknown},
    {"equal to 2^53 + 1", "i64", "select(i[m] == 9007199254740993, 1, 0)", "0 * i[m]", Verdict::kUnknown},
    {"cut off at 2^40", "i64", "min(i[m], 1099511627776)", "i[m]", Verdict::kRefuted},
    {"cut off at -2^52", "i64", "max(i[m], -4503599627370496)", "i[m]", Verdict::kRefuted},
    {"cut off at 2^62", "i64", "min(i[m], 4611686018427387904)", "i[m]", Verdict::kUnknown},
    {"cut off one below an end", "i32", "min(i[m], 2147483646)", "i64(i[m])", Verdict::kRefuted},
    {"cut off one above an end", "i32", "max(i[m], -2147483647)", "i64(i[m])", Verdict::kRefuted},
    {"an end of 32 bits", "i32", "select(i[m] == -2147483648, 1, 0)", "0 * i[m]", Verdict::kRefuted},
    {"an end of 16 bits", "i16", "select(i[m] == -32768, 1, 0)", "0 * i[m]", Verdict::kRefuted},
    {"a product above 2^52", "i64", "select(i[m] * j[m] > 4503599627370496, 1, 0)", "0 * i[m]", Verdict::kRefuted},
    {"a product of 32 bits above 2^52", "i32", "select(i64(i[m]) * i64(j[m]) > 4503599627370496, 1, 0)", "0 * i[m]",
     Verdict::kRefuted},
    {"a product above a number that is no power", "i64", "select(i[m] * j[m] > 1000000000000000, 1, 0)", "0 * i[m]",
     Verdict::kRefuted},
    {"a remainder of a product", "i64", "(abs(i[m]) * abs(j[m])) % 4503599627370496", "abs(i[m]) * abs(j[m])",
     Verdict::kRefuted},
    {"a quotient of a product", "i64", "(abs(i[m]) * abs(j[m])) // 4503599627370496", "0 * i[m]", Verdict::kRefuted},
    {"a multiple above 2^52", "i64", "select(i[m] * 4194304 > 4503599627370496, 1, 0)", "0 * i[m]", Verdict::kRefuted},
    {"a multiple above a number that is no power", "i64", "select(i[m] * 1000 > 5000000001000, 1, 0)", "0 * i[m]",
     Verdict::kRefuted},
    {"a square above 2^52", "i64", "select(i[m] * i[m] > 4503599627370496, 1, 0)", "0 * i[m]", Verdict::kRefuted},
    {"squares above 2^53", "i64", "select(i[m] * i[m] + j[m] * j[m] > 9007199254740992, 1, 0)", "0 * i[m]",
     Verdict::kUnknown},
    {"a cast to f32 on the way", "i32", "i64(f32(i[m]))", "i64(i[m])", Verdict::kRefuted},
    {"the sign of a difference", "i64", "select(i[m] - j[m] > 2251799813685248, 1, 0)", "0 * i[m]", Verdict::kRefuted},
};

const IntegerPair kEqualIntegerPairs[] = {
    {"an order of additions", "i64", "i[m] + j[m] + 1", "1 + j[m] + i[m]", Verdict::kProved},
    {"a bound that is the type's", "i32", "min(i[m], 2147483647)", "i64(i[m])", Verdict::kTested},
    {"a comparison turned round", "i64", "select(i[m] > 4503599627370496, 1, 0)",
     "select(i[m] <= 4503599627370496, 0, 1)", Verdict::kTested},
    {"a clamp written as a choice", "i64", "min(i[m], 1099511627776)",
     "select(i[m] < 1099511627776, i[m], 1099511627776)", Verdict::kTested},
    {"a remainder as a difference", "i64", "i[m] % 1000003", "i[m] - i[m] // 1000003 * 1000003", Verdict::kTested},
    {"halves", "i32", "i64(i[m]) // 2", "(i64(i[m]) - i64(i[m]) % 2) // 2", Verdict::kTested},
};

class DifferentIntegers : public ::testing::TestWithParam<IntegerPair> {};
TEST_P(DifferentIntegers, AreFound) {
  const IntegerPair& pair = GetParam();
  for (const bool turned : {false, true}) {
    const std::string first = integer_program(pair, turned ? pair.second : pair.first);
    const Equivalence found = asked(first, integer_program(pair, turned ? pair.first : pair.second));
    const bool good = found.verdict == Verdict::kRefuted || found.verdict == pair.verdict;
    EXPECT_TRUE(good) << pair.name << (turned ? ", turned round" : "") << " is " << name_of(found.verdict) << ": "
                      << found.reason;
  }
}
INSTANTIATE_TEST_SUITE_P(All, DifferentIntegers, ::testing::ValuesIn(kIntegerPairs));

class EqualIntegers : public ::testing::TestWithParam<IntegerPair> {};
TEST_P(EqualIntegers, AreNotRefuted) {
  const IntegerPair& pair = GetParam();
  const Equivalence found = asked(integer_program(pair, pair.first), integer_program(pair, pair.second));
  const bool good = found.verdict == Verdict::kProved || found.verdict == pair.verdict;
  EXPECT_TRUE(good) << pair.name << " is " << name_of(found.verdict) << ": " << found.reason;
}
INSTANTIATE_TEST_SUITE_P(All, EqualIntegers, ::testing::ValuesIn(kEqualIntegerPairs));

// Integers that the problem stops at decide nothing.
TEST(LargeIntegers, AGatherIsTestedWithItsOwn) {
  const std::string head = "dim M = 64, R = 9\ninput x : f32[R]\ninput i : i64[M]\noutput y : f32[M]\n";
  const Equivalence found =
      asked(head + "y[m] = x[i[m]] + x[i[m]]", head + "y[m] = select(i[m] < 100, 2 * x[i[m]], 0)");
  EXPECT_EQ(found.verdict, Verdict::kTested) << found.reason;
}

TEST(LargeIntegers, WhatDecidesBeyondTestsIsNamed) {
  const IntegerPair pair{"", "i64", "select(i[m] + j[m] > 9007199254740992, 1, 0)", "0 * i[m]", Verdict::kUnknown};
  const Equivalence found = asked(integer_program(pair, pair.first), integer_program(pair, pair.second));
  ASSERT_EQ(found.beyond.size(), 1u);
  EXPECT_NE(found.reason.find("integers too large for a test decide `i[m]+j[m] > 9007199254740992`"), std::string::npos)
      << found.reason;
}

}  // namespace
}  // namespace solstice::ir
