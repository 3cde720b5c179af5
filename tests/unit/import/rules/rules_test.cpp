// The table of operators.
#include "import/rules.h"

#include <gtest/gtest.h>

#include <set>

#include "import/import.h"

namespace solstice::importer {
namespace {

TEST(ImportRules, EveryOperatorHasOneRule) {
  std::set<std::string> seen;
  for (const OperatorInfo& info : list_operators()) {
    EXPECT_TRUE(seen.insert(info.op).second) << info.op << " is listed twice";
    EXPECT_NE(find_rule(info.op), nullptr);
  }
  EXPECT_EQ(find_rule("aten.fft_fft.default"), nullptr);
}

}  // namespace
}  // namespace solstice::importer
