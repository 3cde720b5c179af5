#include "propose/expert.h"

#include <gtest/gtest.h>

namespace solstice::propose {
namespace {

Schedule unroll(int value) {
  Schedule out{"map", {}};
  out.knobs.set("unroll", ir::KnobValue::of_int(value));
  return out;
}

// Two kernels of three settings; a candidate's text is its settings.
std::vector<Axis> axes() {
  const std::vector<Schedule> options = {unroll(1), unroll(2), unroll(4)};
  return {{"a", options, {Seconds(3), Seconds(4), Seconds(5)}}, {"b", options, {Seconds(1), Seconds(1), Seconds(1)}}};
}

Result<std::string> text(const std::vector<Axis>& all, const Choice& choice) {
  std::string out;
  for (size_t a = 0; a < all.size(); ++a) out += all[a].kernel + " " + all[a].options[choice[a]].text() + "\n";
  return out;
}

TEST(Expert, StartsFromTheCostModelsChoice) {
  Expert expert(axes(), text);
  search::Tree tree;
  const auto first = expert.propose(tree);
  ASSERT_TRUE(first.ok() && *first);
  EXPECT_EQ((*first)->program, *text(axes(), {0, 0}));
  EXPECT_EQ((*first)->predicted, Seconds(4));
  EXPECT_EQ((*first)->settings.size(), 2u);
  EXPECT_FALSE((*first)->known);
}

TEST(Expert, StartsFromTheFastestOfEarlierRunsAndTriesAllTheSame) {
  const Choice good = {2, 1}, slow = {0, 0};
  const auto known = [](const Choice& choice, double time) {
    std::vector<std::string> settings;
    for (size_t a = 0; a < 2; ++a) settings.push_back(axes()[a].kernel + " " + axes()[a].options[choice[a]].text());
    return Known{settings, *text(axes(), choice), Seconds(time)};
  };
  Expert expert(axes(), text, {known(slow, 9), known(good, 2), {{"a map(unroll=99)", "b map(unroll=1)"}, "gone", Seconds(1)}});
  search::Tree tree;
  const auto first = expert.propose(tree);
  ASSERT_TRUE(first.ok() && *first);
  EXPECT_EQ((*first)->program, *text(axes(), good));
  EXPECT_EQ((*first)->known, Seconds(2));
  tree.add(**first);
  size_t proposed = 1;
  for (auto next = expert.propose(tree); next.ok() && *next; next = expert.propose(tree)) {
    tree.add(**next);
    ++proposed;
  }
  EXPECT_EQ(proposed, 5u);  // the opening, and every other setting of each kernel around it
}

}  // namespace
}  // namespace solstice::propose
