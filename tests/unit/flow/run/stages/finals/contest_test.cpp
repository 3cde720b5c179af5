#include "flow/run/stages/finals/contest.h"

#include <gtest/gtest.h>

#include <map>

namespace solstice::flow {
namespace {

// A GPU with so much room: each held contender takes its slots, the original needs some while it is timed.
struct FakeGpu {
  explicit FakeGpu(int all = 100, int original = 1) : room(all), original_needs(original) {}
  int room, original_needs;
  std::map<std::string, int> held;
  std::string order;  // one letter a block
  int used() const {
    int sum = 0;
    for (const auto& [name, slots] : held) sum += slots;
    return sum;
  }

  Contender contender(std::string name, double seconds, Outcome now = Outcome::kPassed) {
    Contender out;
    out.name = name;
    out.slots_for = [this](int processes) -> Result<int> {
      return std::max(1, std::min(4, (room - used()) / processes));
    };
    out.hold = [this, name, now](int slots) -> Result<Verdict> {
      Verdict verdict;
      verdict.outcome = used() + slots > room ? Outcome::kOutOfMemory : now;
      verdict.message = "why";
      if (verdict.passed()) held[name] = slots;
      return verdict;
    };
    out.let_go = [this, name] { held.erase(name); };
    out.time = [this, name, seconds](int n) -> Result<std::vector<double>> {
      order += name;
      return std::vector<double>(static_cast<size_t>(n), seconds);
    };
    return out;
  }

  Status run(std::vector<Contender>& all) {
    const run::TimeBlock original = [this](int n) -> Result<std::vector<double>> {
      order += '.';
      if (used() + original_needs > room) return fail(Code::too_large, "no memory");
      return std::vector<double>(static_cast<size_t>(n), 1.0);
    };
    run::AbbaOptions options;
    options.repetitions = options.least_rounds = options.most_rounds = 1;
    return hold_contest(all, 4, original, nullptr, options);
  }
};

TEST(Contest, AllGetTheSameNumberOfCopies) {
  FakeGpu gpu(10);
  std::vector<Contender> all = {gpu.contender("a", 0.5), gpu.contender("b", 0.25), gpu.contender("c", 0.2)};
  ASSERT_TRUE(gpu.run(all).ok());
  EXPECT_EQ(gpu.held, (std::map<std::string, int>{{"a", 3}, {"b", 3}, {"c", 3}}));
  EXPECT_EQ(gpu.order, "abc..cba");
  EXPECT_DOUBLE_EQ(all[1].timing->speedup, 4);
}

TEST(Contest, TheLastWaitsWhereTheOriginalFindsNoRoom) {
  FakeGpu gpu(3);
  std::vector<Contender> all = {gpu.contender("a", 0.5), gpu.contender("b", 0.25), gpu.contender("c", 0.2)};
  ASSERT_TRUE(gpu.run(all).ok());
  EXPECT_TRUE(all[0].timing && all[1].timing);
  EXPECT_FALSE(all[2].timing);
  EXPECT_EQ(all[2].refused, "");  // it may be timed later
  EXPECT_EQ(gpu.held.count("c"), 0u);
}

TEST(Contest, OneAloneMakesDoWithOneCopyAndIsOutOnlyThen) {
  FakeGpu gpu(4, 2);
  std::vector<Contender> all = {gpu.contender("a", 0.5)};
  ASSERT_TRUE(gpu.run(all).ok());
  EXPECT_TRUE(all[0].timing);
  EXPECT_EQ(gpu.held["a"], 1);
  FakeGpu small(1);
  std::vector<Contender> none = {small.contender("a", 0.5)};
  ASSERT_TRUE(small.run(none).ok());
  EXPECT_FALSE(none[0].timing);
  EXPECT_EQ(none[0].refused, "a cannot be timed beside the original: no memory");
}

TEST(Contest, OutOfMemoryBesideOthersIsNoRefusalAnyOtherFailureIs) {
  FakeGpu gpu(1, 0);
  std::vector<Contender> all = {gpu.contender("a", 0.5), gpu.contender("b", 0.25)};
  ASSERT_TRUE(gpu.run(all).ok());
  EXPECT_TRUE(all[0].timing);
  EXPECT_EQ(all[1].refused, "");
  FakeGpu other;
  std::vector<Contender> wrong = {other.contender("a", 0.5, Outcome::kWrongResult), other.contender("b", 0.25)};
  ASSERT_TRUE(other.run(wrong).ok());
  EXPECT_EQ(wrong[0].refused, "a passed before and fails now: why");
  EXPECT_TRUE(wrong[1].timing);
}

TEST(Contest, OneThatFailsWhileItIsTimedIsOutTheOthersGoOn) {
  FakeGpu gpu;
  std::vector<Contender> all = {gpu.contender("a", 0.5), gpu.contender("b", 0.25)};
  all[0].time = [](int) -> Result<std::vector<double>> { return fail(Code::candidate_failed, "a wrong result"); };
  ASSERT_TRUE(gpu.run(all).ok());
  EXPECT_EQ(all[0].refused, "a: a wrong result");
  EXPECT_EQ(gpu.held.count("a"), 0u);
  EXPECT_TRUE(all[1].timing);
}

TEST(Contest, TheOriginalsOtherErrorsEndIt) {
  FakeGpu gpu;
  std::vector<Contender> all = {gpu.contender("a", 0.5)};
  const run::TimeBlock broken = [](int) -> Result<std::vector<double>> { return fail(Code::deadline, "too slow"); };
  EXPECT_EQ(hold_contest(all, 4, broken, nullptr, {}).error().code, Code::deadline);
}

}  // namespace
}  // namespace solstice::flow
