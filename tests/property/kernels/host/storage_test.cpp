// Values as they lie in memory: what every test of random kernels takes for granted.
#include "property/kernels/storage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace solstice::random_kernels {
namespace {

TEST(Storage, EveryPatternOfNarrowFloatsComesBack) {
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kE4M3, DType::kE5M2}) {
    const int patterns = 1 << (8 * size_of(dtype));
    for (int bits = 0; bits < patterns; ++bits) {
      unsigned char from[2], to[2] = {0, 0};
      const auto narrow = static_cast<uint16_t>(bits);
      std::memcpy(from, &narrow, 2);
      const double value = decode(dtype, from);
      if (std::isnan(value)) continue;
      encode(dtype, value, to);
      ASSERT_EQ(std::memcmp(from, to, static_cast<size_t>(size_of(dtype))), 0)
          << name_of(dtype) << " " << bits << " " << value;
    }
  }
}

TEST(Storage, KnownValues) {
  unsigned char bytes[2] = {0x00, 0x3e};
  EXPECT_EQ(decode(DType::kF16, bytes), 1.5);
  bytes[0] = 0xc0, bytes[1] = 0x3f;
  EXPECT_EQ(decode(DType::kBF16, bytes), 1.5);
  bytes[0] = 0x7e;
  EXPECT_EQ(decode(DType::kE4M3, bytes), 448);
  bytes[0] = 0x7b;
  EXPECT_EQ(decode(DType::kE5M2, bytes), 57344);
}

TEST(Storage, GapsAreSeen) {
  PlanBuffer buffer;
  buffer.dtype = DType::kF32;
  buffer.shape = {2, 3};
  buffer.strides = {4, 1};
  buffer.bytes = 7 * 4;
  std::string memory = packed(buffer, {1, 2, 3, 4, 5, 6}, 0xff);
  auto* const bytes = reinterpret_cast<unsigned char*>(memory.data());
  EXPECT_EQ(unpacked(buffer, bytes), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(gaps_untouched(buffer, bytes, 0xff));
  memory[3 * 4] = 0;
  EXPECT_FALSE(gaps_untouched(buffer, bytes, 0xff));
}

}  // namespace
}  // namespace solstice::random_kernels
