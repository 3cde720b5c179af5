#include "search/memory.h"

#include <gtest/gtest.h>

#include <cmath>

namespace solstice::search {
namespace {

Fact fact(const std::string& extents, const std::string& from, const std::string& to, double gain) {
  Fact out;
  out.structure = {"sum: f32", "form", extents};
  out.from = from;
  out.to = to;
  out.gain = gain;
  return out;
}

double expected(const Memory& memory, const Structure& structure, const std::string& from, const std::string& to) {
  return memory.worth(structure, to) - memory.worth(structure, from);
}

const Structure kHere = {"sum: f32", "form", "10"}, kOtherForm = {"sum: f32", "another", "10"},
                kOtherKind = {"map: f32", "form", "10"};

TEST(Memory, KnowsNothingAtFirst) {
  const Memory memory;
  EXPECT_TRUE(memory.empty());
  EXPECT_EQ(memory.worth(kHere, "rows(threads=256)"), 0);
}

TEST(Memory, TakesASettingApart) {
  EXPECT_EQ(parts_of("gemm(math=fp16x3, tile=128x256x64, args=(x, y))"),
            (std::vector<std::string>{"gemm", "math=fp16x3", "tile=128x256x64", "args=(x, y)"}));
  EXPECT_EQ(parts_of("rows()"), std::vector<std::string>{"rows"});
  EXPECT_EQ(parts_of("whole"), std::vector<std::string>{"whole"});
}

TEST(Memory, BelievesAFactLessTheFurtherAwayItIs) {
  const Memory memory({fact("10", "a", "b", 1)});
  const double here = expected(memory, kHere, "a", "b"), form = expected(memory, {"sum: f32", "form", "12"}, "a", "b");
  const double kind = expected(memory, kOtherForm, "a", "b");
  EXPECT_NEAR(here, 4.5 / 5.5, 0.01);
  EXPECT_GT(here, form);
  EXPECT_GT(form, kind);
  EXPECT_NEAR(kind, 1.5 / 5.5, 0.01);
  EXPECT_EQ(expected(memory, kOtherKind, "a", "b"), 0);
  EXPECT_NEAR(expected(memory, kHere, "b", "a"), -here, 1e-9) << "back again";
}

TEST(Memory, ManyStructuresConvinceWhereRepeatsOfOneDoNot) {
  std::vector<Fact> repeats, spread;
  for (int i = 0; i < 12; ++i) {
    repeats.push_back(fact("10", "a", "b", 1));
    spread.push_back(fact(std::to_string(i), "a", "b", 1));
    spread.back().structure.form += std::to_string(i);
  }
  const double one = expected(Memory(repeats), kOtherForm, "a", "b"),
               many = expected(Memory(spread), kOtherForm, "a", "b");
  EXPECT_LT(one, 0.35);
  EXPECT_GT(many, 0.75);
}

// What is known of the very change is not washed out by what else its settings were in.
TEST(Memory, ADirectFactPrevails) {
  const auto rows = [](int threads, int cluster) {
    return "rows(threads=" + std::to_string(threads) + ", cluster=" + std::to_string(cluster) + ")";
  };
  const Memory memory({fact("10", "rows()", rows(512, 1), -0.07), fact("10", "rows()", rows(512, 2), -0.2),
                       fact("10", "rows()", rows(128, 2), -0.3), fact("10", "rows()", rows(256, 4), -0.1),
                       fact("10", "rows()", rows(128, 4), 0.16)});
  EXPECT_GT(expected(memory, kHere, "rows()", rows(128, 4)), 0.05);
}

TEST(Memory, ComparesThroughOthers) {
  const Memory memory({fact("10", "a", "b", 0.5), fact("10", "b", "c", 0.5)});
  EXPECT_GT(expected(memory, kHere, "a", "c"), expected(memory, kHere, "a", "b"));
}

TEST(Memory, LearnsOfPartsOfSettings) {
  const Memory memory({fact("10", "rows(threads=128, lanes=1)", "rows(threads=256, lanes=1)", 1),
                       fact("11", "rows(threads=128, lanes=2)", "rows(threads=256, lanes=2)", 1)});
  EXPECT_GT(expected(memory, kHere, "rows(threads=128, lanes=8)", "rows(threads=256, lanes=8)"), 0.1);
  EXPECT_EQ(expected(memory, kHere, "rows(threads=128, lanes=8)", "rows(threads=128, lanes=4)"), 0);
}

TEST(Memory, FailuresAndNoiseCount) {
  Fact wrong = fact("10", "a", "b", 0);
  wrong.state = TrialState::kWrong;
  EXPECT_LT(expected(Memory({wrong}), kHere, "a", "b"), -0.3);
  Fact noisy = fact("10", "a", "b", 1);
  noisy.noise = 0.5;
  EXPECT_LT(expected(Memory({noisy}), kHere, "a", "b"), 0.05);
}

// A tenth of the program gained what makes a twentieth of its time: the kernel takes half.
TEST(Memory, AKernelsOwnGainIsThatOfItsShare) {
  Fact small = fact("10", "a", "b", -std::log2(0.95));
  small.share = 0.1;
  EXPECT_NEAR(own_gain(small), 1, 1e-9);
  small.share = 0.001;
  EXPECT_LE(own_gain(small), 3) << "no wonders";
}

// A store that has grown for long: what is the same change of the same structure is one row.
TEST(Memory, HoldsManyFacts) {
  std::vector<Fact> facts;
  for (int i = 0; i < 20000; ++i) {
    const auto knobs = [](int n) {
      return "rows(threads=" + std::to_string(n % 7) + ", lanes=" + std::to_string(n % 5) + ")";
    };
    facts.push_back(fact(std::to_string(i % 97), knobs(i), knobs(i / 7 + 1), 0.01 * (i % 13)));
  }
  const Memory memory(facts);
  EXPECT_EQ(memory.facts(), 20000u);
  EXPECT_NE(memory.worth(kHere, "rows(threads=3, lanes=2)"), 0);
}

TEST(Memory, CountsWhatItRestsOn) {
  const Memory memory({fact("10", "a", "b", 1), fact("10", "b", "c", 1), fact("11", "a", "b", 1)});
  EXPECT_EQ(memory.evidence(kHere, "b").facts, 3);
  EXPECT_EQ(memory.evidence(kHere, "b").structures, 2);
  EXPECT_EQ(memory.evidence(kOtherKind, "b").facts, 0);
}

}  // namespace
}  // namespace solstice::search
