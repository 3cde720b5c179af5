#include "base/diagnostic.h"

#include <gtest/gtest.h>

namespace solstice {
namespace {

constexpr std::string_view kSource = "dim M = 4\ny[m] = relu(x[m])\n";

Diagnostics sample() {
  Diagnostics all;
  Diagnostic& d = all.error("E002", {17, 21}, "unknown function `rellu`", "did you mean `relu`?");
  d.labels.push_back({{0, 3}, "dims are declared here"});
  all.warning("W001", {4, 5}, "unused dim");
  return all;
}

TEST(Diagnostics, TextShowsPlaceCaretAndHint) {
  EXPECT_EQ(render_text(sample(), kSource, "p.ucut"),
            "p.ucut:2:8: error[E002]: unknown function `rellu`\n"
            "  2 | y[m] = relu(x[m])\n"
            "    |        ^^^^\n"
            "p.ucut:1:1: note: dims are declared here\n"
            "  1 | dim M = 4\n"
            "    | ^^^\n"
            "  hint: did you mean `relu`?\n"
            "p.ucut:1:5: warning[W001]: unused dim\n"
            "  1 | dim M = 4\n"
            "    |     ^\n");
}

TEST(Diagnostics, JsonHoldsTheSame) {
  const Json json = render_json(sample(), kSource, "p.ucut");
  ASSERT_EQ(json.size(), 2u);
  const Json& first = json.at(size_t{0});
  EXPECT_EQ(first.at("code").as_string(), "E002");
  EXPECT_EQ(first.at("span").at("line").as_int(), 2);
  EXPECT_EQ(first.at("labels").size(), 1u);
  EXPECT_EQ(json.at(size_t{1}).at("severity").as_string(), "warning");
}

TEST(Diagnostics, SpansOutsideTheTextAreClamped) {
  Diagnostics all;
  all.error("E001", {1000, 2000}, "past the end");
  all.error("E001", {-5, -1}, "before the start");
  all.error("E001", {28, 29}, "at the end");
  EXPECT_FALSE(render_text(all, kSource, "p").empty());
  EXPECT_FALSE(render_text(all, "", "p").empty());
}

TEST(Diagnostics, OnlyErrorsCountAsErrors) {
  Diagnostics all;
  all.warning("W001", {}, "w");
  EXPECT_FALSE(all.has_errors());
  all.error("E001", {}, "e");
  EXPECT_TRUE(all.has_errors());
}

TEST(Diagnostics, AHundredAreKeptAndTheRestCounted) {
  Diagnostics all;
  for (int i = 0; i < 150; ++i) all.error("E001", {i, i + 1}, "e").hint = "a hint";
  all.warning("W001", {}, "of another severity");
  EXPECT_EQ(all.size(), 101u);
  EXPECT_EQ(all.omitted(), 50u);
  EXPECT_NE(render_text(all, kSource, "p").find("\np: and 50 more\n"), std::string::npos);
  const Json json = render_json(all, kSource, "p");
  EXPECT_EQ(json.size(), 102u);
  EXPECT_EQ(json.at(size_t{101}).at("message").as_string(), "and 50 more");
  EXPECT_EQ(json.at(size_t{101}).at("severity").as_string(), "note");
}

TEST(Diagnostics, OfALongLineAPartIsShown) {
  const std::string line = std::string(1000, 'a') + "\x1b?" + std::string(1000, 'b');
  Diagnostics all;
  all.error("E001", {1000, 2000}, "e");
  EXPECT_EQ(render_text(all, line, "p"), "p:1:1001: error[E001]: e\n  1 | ..." + std::string(80, 'a') + "??" +
                                             std::string(158, 'b') + "...\n    | " + std::string(83, ' ') +
                                             std::string(160, '^') + "\n");
}

TEST(Diagnostics, ManyInALongTextTakeNoTime) {
  const std::string text(size_t{8} << 20, '\n');
  Diagnostics all;
  for (int i = 0; i < 100; ++i)
    all.error("E001", {static_cast<int>(text.size()) - i, static_cast<int>(text.size())}, "e");
  EXPECT_NE(render_text(all, text, "p").find("p:8388609:1: "), std::string::npos);
}

TEST(Closest, FindsTyposOnly) {
  const std::vector<std::string> names = {"tile", "stages", "cluster"};
  EXPECT_EQ(closest("tiel", names), "tile");
  EXPECT_EQ(closest("stage", names), "stages");
  EXPECT_EQ(closest("a100", {"h200", "b200"}), "");  // another machine
  EXPECT_EQ(closest("permutation", names), "");
  EXPECT_EQ(closest("x", {}), "");
  EXPECT_EQ(closest(std::string(100000, 'x'), {std::string(100001, 'x')}), "");  // nobody typed that
}

TEST(Diagnostics, TheFirstNameThatTheMessageQuotesIsUnderlined) {
  const std::string source = "dim M = 3, MM = 4\nkernel a by gem(tile=M)\n";
  const auto place = [&](Span span, const char* message) {
    Diagnostics all;
    all.error("E008", span, message);
    const std::string text = render_text(all, source, "a.ucut");
    const size_t line = text.find("    | ") + 6;
    return std::pair(text.substr(7, text.find(": error") - 7), text.substr(line, text.find('\n', line) - line));
  };
  EXPECT_EQ(place({4, 9}, "`M` is declared twice"), std::pair(std::string("1:5"), std::string("    ^")));
  EXPECT_EQ(place({18, 41}, "no kernel family `gem`").second, "            ^^^");
  EXPECT_EQ(place({18, 41}, "family `rows` has no knob `tile`").second, std::string(16, ' ') + "^^^^");
  EXPECT_EQ(place({18, 41}, "no kernel for `math=simt, tile=M`").second, std::string(16, ' ') + "^^^^^^");
  EXPECT_EQ(place({0, 17}, "dim `MM` is 4").second, std::string(11, ' ') + "^^");  // not a part of a longer name
  EXPECT_EQ(place({4, 9}, "`N + 1` of `M`").second, "    ^^^^^");                  // an expression that is not there
}

TEST(Diagnostics, AnExcerptIsOfALineAndAColumn) {
  const std::string source = "a = 1\n  b = f(x)  \n";
  EXPECT_EQ(excerpt_at(source, 2, 7, 4), "  2 |   b = f(x)  \n    |       ^^^^\n");
  EXPECT_EQ(excerpt_at(source, 2, 0, 0), "  2 |   b = f(x)  \n    |   ^^^^^^^^\n");
  EXPECT_EQ(excerpt_at(source, 1, 99, 1), "  1 | a = 1\n    |      ^\n");
  EXPECT_EQ(excerpt_at(source, 9, 1, 1), "");
}

TEST(Diagnostics, ARefusalCountsTheMistakesAndListsThem) {
  Diagnostics all;
  all.error("E000", {0, 1}, "one");
  all.warning("W002", {0, 1}, "two");
  const Error error = refusal(all, "a\n", "a.ucut");
  EXPECT_EQ(error.message, "a.ucut has 1 mistake");
  EXPECT_EQ(error.text().rfind("a.ucut:1:1: error[E000]: one\n", 0), 0u);
  EXPECT_NE(error.text().find("warning[W002]: two"), std::string::npos);
}

TEST(InsteadOf, NamesTheClosestAndAll) {
  EXPECT_EQ(instead_of("gredy", {"mcts", "greedy"}), "did you mean `greedy`? there are mcts, greedy");
  EXPECT_EQ(instead_of("xyzzy", {"mcts"}), "there are mcts");
}

}  // namespace
}  // namespace solstice
