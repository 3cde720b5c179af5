#include "record/json_place.h"

#include <gtest/gtest.h>

#include <string>

#include "base/json.h"

namespace solstice {
namespace {

constexpr std::string_view kText = R"({
  "name": "a \"quoted\" [name",
  "kernels": [
    {"name": "up", "grid": [1, 2]},
    {"name": 3.5, "a.b": {"c": true},
     "a": {"b": null}}
  ],
  "empty": {}, "none": [],
  "last": -1e3
})";

// The text at the place, "" where there is none.
std::string at(std::string_view path) {
  const TextPlace place = place_in_json(kText, path);
  if (place.line == 0) return "";
  size_t begin = 0;
  for (int line = 1; line < place.line; ++line) begin = kText.find('\n', begin) + 1;
  return std::string(kText.substr(begin + static_cast<size_t>(place.column) - 1, static_cast<size_t>(place.width)));
}

TEST(JsonPlace, IsThatOfTheMember) {
  ASSERT_TRUE(parse_json(kText).ok());
  EXPECT_EQ(at(".name"), R"("a \"quoted\" [name")");
  EXPECT_EQ(at(".kernels[1].name"), "3.5");
  EXPECT_EQ(at(".kernels[0].grid[1]"), "2");
  EXPECT_EQ(at(".last"), "-1e3");
  EXPECT_EQ(at(".empty"), "{}");
  EXPECT_EQ(at(".none"), "[]");
  EXPECT_EQ(at(".kernels[1].a.b"), R"({"c": true})") << "the first of both";
  EXPECT_EQ(at(".kernels[1].a.b.c"), "true") << "`a.b` and `c`";
  EXPECT_EQ(place_in_json(kText, "").line, 1);
}

TEST(JsonPlace, IsNoneWhereTheMemberIsNotThere) {
  for (const char* path : {".other", ".kernels[2]", ".kernels[x]", ".kernels[0", ".name.a", ".last[0]", ".none[0]",
                           ".empty.a", "[0]", "?"})
    EXPECT_EQ(at(path), "") << path;
  EXPECT_EQ(place_in_json("", ".a").line, 0);
  EXPECT_EQ(place_in_json("3", ".a").line, 0);
}

// Whatever the text, no read goes beyond it.
TEST(JsonPlace, TakesTextsThatAreCutOff) {
  for (size_t size = 0; size < kText.size(); ++size) {
    const std::string text(kText.substr(0, size));
    place_in_json(text, ".kernels[1].a.b.c");
    place_in_json(text, ".last");
  }
}

TEST(JsonPlace, AnErrorHasFileAndLine) {
  Error error = fail(Code::bad_record, "wrong");
  error.member = ".kernels[1].name";
  const Error placed = in_json_file(error, kText, "a.json", "write it again", 11);
  EXPECT_EQ(placed.text(), "a.json:15: wrong; write it again");
  EXPECT_EQ(placed.column, 14);
  error.member = ".other";
  error.hint = "its own";
  EXPECT_EQ(in_json_file(error, kText, "a.json", "write it again").text(), "a.json:1: wrong; its own");
}

}  // namespace
}  // namespace solstice
