#include "base/html.h"

#include <gtest/gtest.h>

namespace solstice {
namespace {

TEST(HtmlTest, MarkupBecomesEntities) {
  EXPECT_EQ(html_escaped("a < b && b > \"c\""), "a &lt; b &amp;&amp; b &gt; \"c\"");
  EXPECT_EQ(html_escaped(""), "");
}

}  // namespace
}  // namespace solstice
