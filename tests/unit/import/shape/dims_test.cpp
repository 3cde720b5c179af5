// Extents as polynomials over dims.
#include "import/shape/dims.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace solstice::importer
