// The small value types: hashes, dtypes, units, clocks.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/clock.h"
#include "base/dtype.h"
#include "base/hash.h"
#include "base/units.h"

namespace solstice {
namespace {

TEST(Hash, SeparatesPartsAndKeepsItsValue) {
  EXPECT_NE(Hasher().add("ab").add("c").hex(), Hasher().add("a").add("bc").hex());
  EXPECT_NE(Hasher().add(int64_t{1}).hex(), Hasher().add(int64_t{2}).hex());
  EXPECT_EQ(hash_hex("x").size(), 32u);
  // XXH3-128 of the empty text with seed 0, from the reference implementation: names on disk must not change.
  EXPECT_EQ(hash_hex(""), "99aa06d3014798d86001c324468d497f");
}

TEST(DType, NamesRoundTrip) {
  std::set<std::string_view> names;
  for (const DType dtype : all_dtypes()) {
    EXPECT_EQ(dtype_from_name(name_of(dtype)), dtype);
    EXPECT_TRUE(names.insert(name_of(dtype)).second);
    EXPECT_GE(size_of(dtype), 1);
    EXPECT_FALSE(is_float(dtype) && is_integer(dtype));
  }
  EXPECT_FALSE(dtype_from_name("tf32").has_value());
}

TEST(DType, RoundoffIsHalfAnUlpOfOne) {
  EXPECT_EQ(unit_roundoff(DType::kF32), std::ldexp(1.0, -24));
  EXPECT_EQ(unit_roundoff(DType::kF64), std::ldexp(1.0, -53));
  EXPECT_EQ(unit_roundoff(DType::kBF16), std::ldexp(1.0, -8));
  EXPECT_EQ(unit_roundoff(DType::kI32), 0.0);
}

TEST(Units, RatesAndTimes) {
  EXPECT_DOUBLE_EQ((Bytes(4.8e12) / BytesPerSecond(4.8e12)).value, 1.0);
  EXPECT_DOUBLE_EQ((Flops(2e9) / Seconds(2)).value, 1e9);
  EXPECT_DOUBLE_EQ(milliseconds(3).value, 3e-3);
  EXPECT_LT(microseconds(1), milliseconds(1));
  static_assert(!std::is_convertible_v<double, Seconds>);
}

TEST(Clock, MovesForwardAndPrintsUtc) {
  const Seconds before = monotonic_now();
  EXPECT_LE(before, monotonic_now());
  EXPECT_TRUE(Deadline(Seconds(0)).passed());
  EXPECT_GT(Deadline(Seconds(100)).left().value, 90);
  const std::string now = utc_now();
  EXPECT_EQ(now.size(), 24u) << now;
  EXPECT_EQ(now.back(), 'Z');
}

}  // namespace
}  // namespace solstice
