// Builders of terms.
#include "import/draft/term.h"

#include <gtest/gtest.h>

#include <limits>

#include "import/call/call.h"

namespace solstice::importer {
namespace {

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

}  // namespace
}  // namespace solstice::importer
