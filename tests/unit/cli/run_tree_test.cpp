#include "cli/view/run_tree.h"

#include <gtest/gtest.h>

#include "cli/view/run_page.h"
#include "support/golden.h"
#include "support/made_runs.h"

namespace solstice::cli {
namespace {

RunView view(const std::string& name) {
  Result<RunView> out = view_of(testing::made_run(name));
  EXPECT_TRUE(out.ok()) << out.error().text();
  return std::move(out).value();
}

TEST(RunTree, IsDrawnALineANode) {
  const RunView mixed = view("mixed");
  testing::expect_golden("tree/mixed.txt", tree_text(mixed, {}));
  testing::expect_golden("tree/mixed_lines.txt", tree_text(mixed, {.width = 80, .lines = true, .depth = {}}));
  testing::expect_golden("tree/mixed_depth.txt", tree_text(mixed, {.depth = 2}));
  testing::expect_golden("tree/mixed_usable.txt", tree_text(mixed, {.depth = {}, .only_usable = true}));
  testing::expect_golden("tree/bare.txt", tree_text(view("bare"), {}));
}

TEST(RunTree, ADeepTreeKeepsRoomForItsFigures) { testing::expect_golden("tree/deep.txt", tree_text(view("deep"), {})); }

TEST(RunTree, NoTextOfARunCommandsTheTerminal) {
  const std::string text = tree_text(view("evil"), {.width = 100, .lines = false, .depth = {}});
  testing::expect_golden("tree/evil.txt", text);
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  EXPECT_EQ(text.find('\x7f'), std::string::npos);
  EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
}

TEST(RunTree, AResultThatCameLateAndOneTwiceAreTold) {
  const RunView mixed = view("mixed");
  const std::vector<Attempt>& late = mixed.attempts[11];
  ASSERT_EQ(late.size(), 1u);
  EXPECT_TRUE(late[0].lost);
  EXPECT_TRUE(late[0].measurement.has_value());
  ASSERT_EQ(mixed.attempts[6].size(), 2u);
  EXPECT_EQ(mixed.attempts[6][1].precision, search::Precision::kPrecise);
  EXPECT_EQ(mixed.skipped, 1);
}

TEST(RunTree, JsonHoldsEveryNode) {
  const Json json = json_of(view("mixed"), false);
  EXPECT_EQ(json.at("best").as_int(), 6);
  EXPECT_EQ(json.at("original").as_double(), 0.0042);
  const Json& node = json.at("nodes").at(size_t{6});
  EXPECT_EQ(node.at("parent").as_int(), 2);
  EXPECT_EQ(node.at("attempts").size(), 2u);
  EXPECT_NEAR(node.at("factor").as_double(), 4.375, 1e-9);
  EXPECT_EQ(node.find("program"), nullptr);
  EXPECT_TRUE(json.at("nodes").at(size_t{13}).at("in_flight").as_bool());
}

TEST(RunTree, WithoutEventsThereIsNone) {
  store::LoadedRun old = testing::made_run("mixed");
  old.events.clear();
  const Result<RunView> none = view_of(old);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Code::not_found);
  store::LoadedRun damaged = testing::made_run("mixed");
  damaged.events.erase(damaged.events.begin() + 1);
  EXPECT_EQ(view_of(damaged).error().code, Code::bad_record);
}

// A page ends where it ends, whatever the run says; tests/python/test_run_page.py looks at it in a browser.
TEST(RunPage, HoldsTextOnlyAsText) {
  const std::string page = page_of(view("evil"));
  const auto count = [&](std::string_view what) {
    size_t found = 0;
    for (size_t i = page.find(what); i != std::string::npos; i = page.find(what, i + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("</script>"), 2u);
  EXPECT_EQ(count("<script"), 2u);
  EXPECT_EQ(count("<img"), 0u);
  EXPECT_EQ(count("<b>"), 0u);
  EXPECT_EQ(count("script-src 'sha256-"), 1u);
  EXPECT_EQ(count("unsafe-inline"), 0u);
  EXPECT_EQ(count("http://") + count("https://"), 1u) << "SVG's name space is all that looks like an address";
}

TEST(RunPage, IsSmall) { EXPECT_LT(page_of(view("deep")).size(), 200u * 1024); }

}  // namespace
}  // namespace solstice::cli
