#include "record/diagnosis/finding.h"

#include <gtest/gtest.h>

namespace solstice {
namespace {

TEST(FindingPlace, ReadsAsPeopleSayIt) {
  EXPECT_EQ(place_text({}), "program");
  EXPECT_EQ(place_text({.kernel = "up"}), "`up`");
  EXPECT_EQ(place_text({.kernel = "up", .line = 7}), "`up`, line 7");
  EXPECT_EQ(place_text({.kernel = "up", .part = "epilogue"}), "epilogue of `up`");
  EXPECT_EQ(place_text({.kernel = "up", .equation = "y[m,n] = gelu(z[m,n])", .part = "epilogue", .line = 9}),
            "`y[m,n] = gelu(z[m,n])`, epilogue of `up`, line 9");
  EXPECT_EQ(place_text({.kernel = "k", .equation = "y[m] = x[m]", .file = "k.cu", .line = 31}),
            "`k.cu` in `k`, line 31");
}

// A long equation is cut: its beginning says which it is.
TEST(FindingPlace, LongEquationsAreCut) {
  const std::string equation = "y[m,n] = " + std::string(200, 'x');
  const std::string text = place_text({.kernel = "up", .equation = equation});
  EXPECT_EQ(text, "`y[m,n] = " + std::string(46, 'x') + " ..`, `up`");
}

}  // namespace
}  // namespace solstice
