// The range guard's promise, kept against splits that are made here in double precision.
#include "gemm/guard.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

namespace solstice::gemm {
namespace {

constexpr double kBound = 0x1p-22;     // of what lost elements cost
constexpr double kRounding = 0x1p-21;  // two planes of 11 bits of each operand, low x low left out

using Values = std::array<float, kChunk>;

double to_half(double x) {
  if (x == 0) return 0;
  const double quantum = std::ldexp(1.0, std::max(std::ilogb(x), -14) - 10);
  return std::nearbyint(x / quantum) * quantum;
}

// What the split pass makes of one chunk.
struct Split {
  Values exact;
  std::array<double, kChunk> high, low;
  Range range;

  Split(const Values& values, int valid) : exact(values) {
    float top = 0, nonzero = 0, above[4] = {0, 0, 0, 0};
    for (const float v : values) top = std::max(top, std::fabs(v));
    const Scale scale(std::bit_cast<uint32_t>(top));
    for (size_t i = 0; i < values.size(); ++i) {
      const double scaled = std::ldexp(static_cast<double>(values[i]), scale.power());
      const double h = to_half(scaled);
      high[i] = std::ldexp(h, -scale.power()), low[i] = std::ldexp(to_half(scaled - h), -scale.power());
      nonzero += scaled != 0 ? 1.f : 0.f;
      constexpr double kLimits[4] = {0x1p10, 0x1p6, 0x1p2, 0x1p-2};
      for (int j = 0; j < 4; ++j) above[j] += std::fabs(scaled) >= kLimits[j] ? 1.f : 0.f;
    }
    range.add(scale, static_cast<float>(valid), nonzero, above);
  }
};

bool accepted(const Split& a, const Split& b) { return range_suffices(a.range.word(), b.range.word()); }

// Error of the three products of a chunk, over sum |a||b|.
double error(const Split& a, const Split& b) {
  double off = 0, size = 0;
  for (size_t i = 0; i < kChunk; ++i) {
    const double exact = static_cast<double>(a.exact[i]) * b.exact[i];
    off += a.high[i] * b.high[i] + a.high[i] * b.low[i] + a.low[i] * b.high[i] - exact;
    size += std::fabs(exact);
  }
  return size > 0 ? std::fabs(off) / size : 0;
}

Values one_hot(size_t at) {
  Values out{};
  out[at] = 1;
  return out;
}

TEST(Guard, ZerosThatTakeTheLargeElementsAwayAreCounted) {
  Values a;
  a.fill(1000.f);
  a[63] = 1e-6f;
  const Split wide(a, kChunk), hot(one_hot(63), kChunk);
  EXPECT_GT(error(wide, hot), 1e-4);
  EXPECT_FALSE(accepted(wide, hot));
  EXPECT_FALSE(accepted(hot, wide));
  Values pair{}, ones;
  pair[0] = 1000.f, pair[1] = 1e-6f;
  ones.fill(1);
  ones[0] = 0;
  EXPECT_FALSE(accepted(Split(pair, kChunk), Split(ones, kChunk)));
  ones[0] = 1;
  EXPECT_TRUE(accepted(Split(ones, kChunk), hot)) << "nothing is lost";
}

TEST(Guard, WhatItAcceptsIsAsAccurateAsItSays) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  int taken = 0, lossy = 0;
  for (int trial = 0; trial < 200'000; ++trial) {
    const int valid = trial % 3 == 0 ? 1 + static_cast<int>(random() % kChunk) : kChunk;
    const auto draw = [&] {
      const double zeros = random() % 3 == 0 ? uniform(random) : 0, span = random() % 2 == 0 ? 0 : 30 * uniform(random);
      const size_t outliers = random() % 4;
      Values out{};
      for (int i = 0; i < valid; ++i)
        out[static_cast<size_t>(i)] =
            uniform(random) < zeros ? 0.f : static_cast<float>(normal(random) * std::exp2(-span * uniform(random)));
      for (size_t o = 0; o < outliers; ++o)
        out[random() % static_cast<size_t>(valid)] *= static_cast<float>(std::exp2(24 * uniform(random)));
      return out;
    };
    const Split a(draw(), valid), b(draw(), valid);
    if (!accepted(a, b)) continue;
    ++taken;
    lossy += a.range.word().lossy || b.range.word().lossy ? 1 : 0;
    ASSERT_LE(error(a, b), kBound + kRounding) << "trial " << trial;
  }
  EXPECT_GT(taken, 40'000);
  EXPECT_GT(lossy, 5'000);
}

// Which data keeps the fast path, over as many chunks as large matrices have.
bool accepts(double zeros_of_a, int chunks) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const auto range_of = [&](double zeros) {
    Range out;
    for (int c = 0; c < chunks; ++c) {
      Values v;
      for (float& x : v) x = uniform(random) < zeros ? 0.f : static_cast<float>(normal(random));
      const Range one = Split(v, kChunk).range;
      for (int i = 0; i < 3; ++i)
        out.all[i] = std::max(out.all[i], one.all[i]), out.lossy[i] = std::max(out.lossy[i], one.lossy[i]);
    }
    return out;
  };
  return range_suffices(range_of(zeros_of_a).word(), range_of(0).word());
}

TEST(Guard, DenseDataAndHalfZerosPass) {
  EXPECT_TRUE(accepts(0, 200'000));
  EXPECT_TRUE(accepts(0.5, 200'000));
  EXPECT_FALSE(accepts(0.9, 200'000)) << "then the text of guard.h is too careful";
}

TEST(Guard, TheCheaperCountIsNoMoreGenerous) {
  Values wide;
  for (size_t i = 0; i < kChunk; ++i) wide[i] = std::exp2(-static_cast<float>(i % 20));
  const Split x(wide, kChunk);
  RangeAt8 cheap;
  float nonzero = 0, above8 = 0, kept = 0;
  for (const float v : wide) nonzero += 1.f, above8 += v >= 0x1p-8f ? 1.f : 0.f, kept += v >= 0x1p-16f ? 1.f : 0.f;
  cheap.add(true, kChunk, nonzero, above8, kept);
  for (int i = 0; i < 3; ++i) EXPECT_GE(cheap.word().all >> (8 * i) & 255u, x.range.word().all >> (8 * i) & 255u) << i;
  EXPECT_NE(cheap.word().lossy, 0u);
}

TEST(Guard, TheLastKOfAStreamedOperandPass) {
  RangeAt8 streamed, held;
  streamed.add(true, 16, 16, 14, 15);
  held.add(true, 16, 16, 15, 16);
  EXPECT_TRUE(range_suffices(streamed.word(), held.word())) << "13 of 16 places have both, one element is lost";
  streamed.add(true, 16, 16, 1, 15);
  EXPECT_FALSE(range_suffices(streamed.word(), held.word()));
}

// What the pass of split_lines.h makes of a line.
struct Line {
  std::vector<float> exact;
  std::vector<double> rounded;
  RangeAt8 range;

  explicit Line(std::vector<float> values) : exact(std::move(values)) {
    float top = 0, nonzero = 0, above = 0, lost = 0;
    for (const float v : exact) top = std::max(top, std::fabs(v));
    const Scale scale(std::bit_cast<uint32_t>(top));
    for (const float v : exact) {
      const double scaled = std::ldexp(static_cast<double>(v), scale.power()), magnitude = std::fabs(scaled);
      rounded.push_back(std::ldexp(to_half(scaled), -scale.power()));
      nonzero += scaled != 0 ? 1.f : 0.f, above += magnitude >= 0x1p6 ? 1.f : 0.f;
      lost += scaled != 0 && magnitude < 0x1p-14 ? 1.f : 0.f;
    }
    range.add_line(scale.representable(), static_cast<float>(exact.size()), nonzero, above, lost);
  }
};

// What a product without scales leaves of sums that are not finite.
TEST(Guard, NothingMakesGoodWhatIsNotFinite) {
  const GuardWord none{0, 0}, lost{0x00ffffffu, 0x00ffffffu};
  EXPECT_TRUE(range_suffices(none, none));
  EXPECT_FALSE(range_suffices(none, lost));
  EXPECT_FALSE(range_suffices(lost, none));
}

TEST(Guard, LinesThatItAcceptsAreAsAccurateAsItSays) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  int taken = 0, lossy = 0;
  for (int trial = 0; trial < 20'000; ++trial) {
    const size_t length = 1 + random() % 700;
    const auto draw = [&] {
      const double zeros = random() % 3 == 0 ? uniform(random) : 0, span = random() % 2 == 0 ? 0 : 60 * uniform(random);
      const double few = random() % 2 == 0 ? 1 : 0.05;
      std::vector<float> out(length);
      for (float& v : out) {
        const double small = uniform(random) < few ? std::exp2(-span * uniform(random)) : 1;
        v = uniform(random) < zeros ? 0.f : static_cast<float>(normal(random) * small);
      }
      return out;
    };
    const Line a(draw()), b(draw());
    if (!range_suffices(a.range.word(), b.range.word())) continue;
    ++taken;
    lossy += a.range.word().lossy || b.range.word().lossy ? 1 : 0;
    double off = 0, size = 0;
    for (size_t i = 0; i < length; ++i) {
      const double exact = static_cast<double>(a.exact[i]) * b.exact[i];
      off += std::fabs(a.rounded[i] * b.rounded[i] - exact), size += std::fabs(exact);
    }
    ASSERT_LE(off, (0x1p-12 + 0x1.01p-10) * size) << "trial " << trial;
  }
  EXPECT_GT(taken, 5'000);
  EXPECT_GT(lossy, 500);
}

}  // namespace
}  // namespace solstice::gemm
