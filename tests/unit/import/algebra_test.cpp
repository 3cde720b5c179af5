// The algebra under the importer: sizes, indices, digits, names.
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "import/draft.h"
#include "import/import.h"
#include "import/rules.h"
#include "import/text/print.h"

namespace solstice::importer {
namespace {

TEST(ImportSize, DividesSymbolicallyBeforeByValue) {
  Dims dims;
  const DimId h = dims.fresh(8), d = dims.fresh(96), e = dims.fresh(768);
  const Size product = dims.size(h) * dims.size(d);
  const auto exact = divide(product, dims.size(d), dims);
  ASSERT_TRUE(exact);
  EXPECT_EQ(exact->terms(), dims.size(h).terms());
  const auto by_value = divide(dims.size(e), dims.size(d), dims);
  ASSERT_TRUE(by_value);
  EXPECT_TRUE(by_value->is_constant());
  EXPECT_EQ(by_value->value(), 8);
  EXPECT_FALSE(divide(dims.size(d), dims.size(e), dims));
}

TEST(ImportDims, KeepTheOlderOfTwoAndItsVotes) {
  Dims dims;
  const DimId a = dims.fresh(5), b = dims.fresh(5);
  dims.hint(b, "K", 10);
  dims.hint(a, "N", 2);
  dims.unify(a, b);
  EXPECT_EQ(dims.find(b), a);
  EXPECT_EQ(dims.hints(a), (std::vector<std::string>{"K", "N"}));
}

class ImportIndex : public ::testing::Test {
 protected:
  Dims dims;
  Loops loops{dims};
  Loop h = loops.fresh(dims.fresh(8));
  Loop d = loops.fresh(dims.fresh(96));
};

TEST_F(ImportIndex, DigitsComeBackFromTheirMerge) {
  const Index flat = loops.flat({{h, d}});
  const Index high = floor_div(flat, dims.size(d.dim), dims);
  const Index low = modulo(flat, dims.size(d.dim), dims);
  ASSERT_TRUE(high.bare() && low.bare());
  EXPECT_EQ(high.bare()->id, h.id);
  EXPECT_EQ(low.bare()->id, d.id);
}

TEST_F(ImportIndex, OffsetsThatFillADigitMoveUp) {
  const Index shifted = loops.flat({{h, d}}) + Index(192);
  const Index high = floor_div(shifted, dims.size(d.dim), dims);
  EXPECT_EQ(range_of(high).low, 2);
  EXPECT_EQ(range_of(high).high, 9);
  EXPECT_EQ(high.terms.size(), 1U);
}

TEST_F(ImportIndex, DivisionStaysWhereDigitsDoNotFit) {
  const Index flat = loops.flat({{h, d}});
  const Index high = floor_div(flat, Size(100), dims);
  ASSERT_EQ(high.terms.size(), 1U);
  EXPECT_EQ(high.terms[0].atom->kind, AtomKind::kDiv);
  EXPECT_EQ(range_of(high).high, 7);
}

std::vector<int64_t> extents(const Axis& axis) {
  std::vector<int64_t> out;
  for (const Loop& digit : axis.digits) out.push_back(digit.extent);
  return out;
}

TEST_F(ImportIndex, AxesAlignToTheirCommonRefinement) {
  const Axis whole = loops.fresh_axis(768);
  const Axis other{{loops.fresh(dims.fresh(4)), loops.fresh(dims.fresh(192))}};
  const Axis halves{{h, d}};
  const Axis refined = loops.align({&whole, &halves, &other});
  EXPECT_EQ(extents(refined), (std::vector<int64_t>{4, 2, 96}));
  EXPECT_TRUE(dims.formula(whole.digits[0].dim));
  EXPECT_EQ(dims.find(refined.digits[2].dim), dims.find(d.dim));
}

TEST_F(ImportIndex, AxesWithoutRefinementKeepTheFirst) {
  const Axis a{{loops.fresh(dims.fresh(6)), loops.fresh(dims.fresh(9))}};
  const Axis b{{loops.fresh(dims.fresh(9)), loops.fresh(dims.fresh(6))}};
  EXPECT_EQ(extents(loops.align({&a, &b})), (std::vector<int64_t>{6, 9}));
}

TEST_F(ImportIndex, AxesWithoutElementsKeepTheirExtent) {
  const Axis none = loops.fresh_axis(0);
  EXPECT_EQ(extents(loops.align(none)), std::vector<int64_t>{0});
  EXPECT_TRUE((Value{{Axis{{h}}, none}, integer(0), DType::kF32}).is_empty());
  EXPECT_FALSE((Value{{Axis{{h}}}, integer(0), DType::kF32}).is_empty());
}

TEST_F(ImportIndex, ReshapeKeepsDigitsWhereItCan) {
  Substitution old;
  const std::vector<Axis> axes = loops.reshape({{{h}}, {{d}}}, {4, 2, 3, 32}, old);
  ASSERT_EQ(axes.size(), 4U);
  EXPECT_EQ(old.at(h.id).terms.size(), 2U);
  EXPECT_EQ(range_of(old.at(h.id)).high, 7);
  EXPECT_EQ(range_of(old.at(d.id)).high, 95);
}

TEST_F(ImportIndex, ACutIsReused) {
  Substitution old;
  const Axis whole = loops.fresh_axis(768);
  const std::vector<Axis> first = loops.reshape({whole}, {8, 96}, old);
  const std::vector<Axis> second = loops.reshape({loops.align(whole)}, {8, 96}, old);
  EXPECT_EQ(dims.find(first[1].digits[0].dim), dims.find(second[1].digits[0].dim));
}

TEST(ImportTerm, RealsReadBackToTheSameDouble) {
  EXPECT_EQ(real(0.1)->text, "0.1");
  EXPECT_EQ(rounded_scalar(0.1, DType::kF32)->text, "0.10000000149011612");
  EXPECT_EQ(rounded_scalar(0.1, DType::kF64)->text, "0.1");
  EXPECT_EQ(real(1e-5)->text, "1e-5");
  EXPECT_EQ(real(2)->text, "2");
  EXPECT_EQ(real(-0.5)->kind, TermKind::kPrefix);
}

TEST(ImportTerm, TheLeastIntegerHasDigits) {
  const TermRef least = integer(std::numeric_limits<int64_t>::min());
  ASSERT_EQ(least->kind, TermKind::kPrefix);
  EXPECT_EQ(least->args[0]->text, "9223372036854775808");
}

TEST(ImportTerm, ReducingNothingIsTheBody) {
  const TermRef body = integer(7);
  EXPECT_EQ(reduce("sum", {}, body), body);
  EXPECT_EQ(reduce("var", {}, body)->text, "0");
}

TEST(ImportRules, EveryOperatorHasOneRule) {
  std::set<std::string> seen;
  for (const OperatorInfo& info : list_operators()) {
    EXPECT_TRUE(seen.insert(info.op).second) << info.op << " is listed twice";
    EXPECT_NE(find_rule(info.op), nullptr);
  }
  EXPECT_EQ(find_rule("aten.atan2.default"), nullptr);
}

}  // namespace
}  // namespace solstice::importer
