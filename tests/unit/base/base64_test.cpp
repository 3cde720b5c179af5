#include "base/base64.h"

#include <gtest/gtest.h>

namespace solstice {
namespace {

TEST(Base64, KnownTexts) {
  EXPECT_EQ(base64_encode(""), "");
  EXPECT_EQ(base64_encode("f"), "Zg==");
  EXPECT_EQ(base64_encode("fo"), "Zm8=");
  EXPECT_EQ(base64_encode("foobar"), "Zm9vYmFy");
}

TEST(Base64, RoundTripsEveryByte) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    bytes += static_cast<char>(i);
    EXPECT_EQ(base64_decode(base64_encode(bytes)).value(), bytes);
  }
}

TEST(Base64, IsStrict) {
  for (const char* text : {"Z", "Zg=", "Zg===", "Z===", "Zm9v Zg=", "Zg==Zm9v", "Zm9\n"}) {
    EXPECT_FALSE(base64_decode(text).ok()) << text;
  }
}

}  // namespace
}  // namespace solstice
