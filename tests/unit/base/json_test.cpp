#include "base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace solstice {
namespace {

TEST(Json, KeepsOrderAndNumberKinds) {
  const std::string text = R"({"z":1,"a":1.0,"list":[true,null,"x"]})";
  const Result<Json> json = parse_json(text);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->dump(), text);
  EXPECT_TRUE(json->at("z").is_int());
  EXPECT_FALSE(json->at("a").is_int());
  EXPECT_TRUE(json->at("a").is_number());
}

TEST(Json, NonFiniteRealsSurvive) {
  const double inf = std::numeric_limits<double>::infinity();
  const Json json = Json::array().push(inf).push(-inf).push(std::nan(""));
  const Json back = *parse_json(json.dump());
  EXPECT_EQ(back.at(size_t{0}).as_double(), inf);
  EXPECT_EQ(back.at(size_t{1}).as_double(), -inf);
  EXPECT_TRUE(std::isnan(back.at(size_t{2}).as_double()));
}

TEST(Json, LookupsNeverThrow) {
  const Json json = Json::object().set("a", 1);
  EXPECT_EQ(json.find("b"), nullptr);
  EXPECT_TRUE(json.at("b").at("c").at(size_t{7}).is_null());
  EXPECT_EQ(json.at("a").as_string(), "");
  EXPECT_EQ(json.at("a").as_bool(true), true);
}

TEST(Json, SetReplacesInPlace) {
  Json json = Json::object().set("a", 1).set("b", 2);
  json.set("a", 3);
  EXPECT_EQ(json.dump(), R"({"a":3,"b":2})");
}

TEST(Json, LargeIntegersAreExact) {
  const int64_t big = (int64_t{1} << 62) + 1;
  EXPECT_EQ(parse_json(Json(big).dump())->as_int(), big);
}

TEST(Json, BadTextIsAnErrorWithItsPlace) {
  const Result<Json> json = parse_json("{\"a\": }");
  ASSERT_FALSE(json.ok());
  EXPECT_EQ(json.error().code, Code::bad_json);
  EXPECT_NE(json.error().message.find("line 1"), std::string::npos) << json.error().message;
}

TEST(Json, InvalidUtf8IsReplacedNotThrown) { EXPECT_FALSE(Json(std::string("\xff")).dump().empty()); }

TEST(Json, DepthIsLimited) {
  const auto nested = [](const std::string& open, size_t depth) {
    std::string out;
    for (size_t i = 0; i < depth; ++i) out += open;
    out += "1";
    for (size_t i = 0; i < depth; ++i) out += open == "[" ? "]" : "}";
    return out;
  };
  EXPECT_TRUE(parse_json(nested("[", kDeepestJson)).ok());
  for (const std::string& text :
       {nested("[", kDeepestJson + 1), nested("[", 200000), nested("{\"a\":", 200000), std::string(200000, '[')}) {
    const Result<Json> read = parse_json(text);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, Code::bad_json);
  }
  EXPECT_TRUE(parse_json("\"" + std::string(100000, '[') + "\\\"[\"").ok());  // of a text, brackets are no depth
}

TEST(Json, TextsAreAList) {
  EXPECT_EQ(text_list({"a", "", "b\n"}).dump(), R"(["a","","b\n"])");
  EXPECT_EQ(text_list({}).dump(), "[]");
}

}  // namespace
}  // namespace solstice
