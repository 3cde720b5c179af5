// The algebra of axes: digits, their refinements, positions along them.
#include <gtest/gtest.h>

#include "import/draft/value.h"

namespace solstice::importer {
namespace {

class ImportAxes : public ::testing::Test {
 protected:
  Dims dims;
  Loops loops{dims};
  Loop h = loops.fresh(dims.fresh(8));
  Loop d = loops.fresh(dims.fresh(96));
};

TEST_F(ImportAxes, DigitsComeBackFromTheirMerge) {
  const Index flat = loops.flat({{h, d}});
  const Index high = floor_div(flat, dims.size(d.dim), dims);
  const Index low = modulo(flat, dims.size(d.dim), dims);
  ASSERT_TRUE(high.bare() && low.bare());
  EXPECT_EQ(high.bare()->id, h.id);
  EXPECT_EQ(low.bare()->id, d.id);
}

TEST_F(ImportAxes, OffsetsThatFillADigitMoveUp) {
  const Index shifted = loops.flat({{h, d}}) + Index(192);
  const Index high = floor_div(shifted, dims.size(d.dim), dims);
  EXPECT_EQ(range_of(high).low, 2);
  EXPECT_EQ(range_of(high).high, 9);
  EXPECT_EQ(high.terms.size(), 1U);
}

TEST_F(ImportAxes, DivisionStaysWhereDigitsDoNotFit) {
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

TEST_F(ImportAxes, AxesAlignToTheirCommonRefinement) {
  const Axis whole = loops.fresh_axis(768);
  const Axis other{{loops.fresh(dims.fresh(4)), loops.fresh(dims.fresh(192))}};
  const Axis halves{{h, d}};
  const Axis refined = loops.align({&whole, &halves, &other});
  EXPECT_EQ(extents(refined), (std::vector<int64_t>{4, 2, 96}));
  EXPECT_TRUE(dims.formula(whole.digits[0].dim));
  EXPECT_EQ(dims.find(refined.digits[2].dim), dims.find(d.dim));
}

TEST_F(ImportAxes, AxesWithoutRefinementKeepTheFirst) {
  const Axis a{{loops.fresh(dims.fresh(6)), loops.fresh(dims.fresh(9))}};
  const Axis b{{loops.fresh(dims.fresh(9)), loops.fresh(dims.fresh(6))}};
  EXPECT_EQ(extents(loops.align({&a, &b})), (std::vector<int64_t>{6, 9}));
}

TEST_F(ImportAxes, AxesWithoutElementsKeepTheirExtent) {
  const Axis none = loops.fresh_axis(0);
  EXPECT_EQ(extents(loops.align(none)), std::vector<int64_t>{0});
  EXPECT_TRUE((Value{{Axis{{h}}, none}, integer(0), DType::kF32}).is_empty());
  EXPECT_FALSE((Value{{Axis{{h}}}, integer(0), DType::kF32}).is_empty());
}

TEST_F(ImportAxes, ReshapeKeepsDigitsWhereItCan) {
  Substitution old;
  const std::vector<Axis> axes = loops.reshape({{{h}}, {{d}}}, {4, 2, 3, 32}, old);
  ASSERT_EQ(axes.size(), 4U);
  EXPECT_EQ(old.at(h.id).terms.size(), 2U);
  EXPECT_EQ(range_of(old.at(h.id)).high, 7);
  EXPECT_EQ(range_of(old.at(d.id)).high, 95);
}

TEST_F(ImportAxes, ACutIsReused) {
  Substitution old;
  const Axis whole = loops.fresh_axis(768);
  const std::vector<Axis> first = loops.reshape({whole}, {8, 96}, old);
  const std::vector<Axis> second = loops.reshape({loops.align(whole)}, {8, 96}, old);
  EXPECT_EQ(dims.find(first[1].digits[0].dim), dims.find(second[1].digits[0].dim));
}

}  // namespace
}  // namespace solstice::importer
