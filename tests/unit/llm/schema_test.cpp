// JSON Schema: what is validated, what is refused, how it is said.
#include "llm/schema.h"

#include <gtest/gtest.h>

#include "llm/difference.h"
#include "llm/structured.h"

namespace solstice::llm {
namespace {

std::string problems(const char* value, const char* schema) {
  std::string out;
  for (const Violation& violation : validate(*parse_json(value), *parse_json(schema))) out += violation.text() + "\n";
  return out;
}

TEST(Schema, EachRuleSaysPathAndExpectation) {
  struct Case {
    const char *value, *schema, *problem;
  };
  const std::vector<Case> cases = {
      {"1", R"({"type":"integer"})", ""},
      {"1.0", R"({"type":"integer"})", ""},
      {"1.5", R"({"type":"integer"})", "$: expected integer; got 1.5\n"},
      {"1", R"({"type":"number"})", ""},
      {"null", R"({"type":["string","null"]})", ""},
      {"true", R"({"type":["string","null"]})", "$: expected string, null; got true\n"},
      {"[1,\"x\"]", R"({"type":"array","items":{"type":"integer"}})", "$[1]: expected integer; got \"x\"\n"},
      {"[1]", R"({"minItems":2})", "$: expected at least 2 items; got [1]\n"},
      {"[1,2,3]", R"({"maxItems":2})", "$: expected at most 2 items; got [1,2,3]\n"},
      {"5", R"({"minimum":6})", "$: expected at least 6; got 5\n"},
      {"5", R"({"maximum":4.5})", "$: expected at most 4.5; got 5\n"},
      {"\"\"", R"({"minLength":1})", "$: expected at least 1 characters; got \"\"\n"},
      {"\"äö\"", R"({"maxLength":2})", ""},
      {"\"b\"", R"({"enum":["a","c"]})", "$: expected one of a, c; got \"b\"\n"},
      {"2", R"({"const":1})", "$: expected 1; got 2\n"},
      {"{}", R"({"required":["a"]})", "$: expected a member `a`; got {}\n"},
      {R"({"a":{"b":1}})", R"({"properties":{"a":{"properties":{"b":{"type":"string"}}}}})",
       "$.a.b: expected string; got 1\n"},
      {R"({"x":1})", R"({"properties":{"a":{}},"additionalProperties":false})",
       "$.x: expected no such member; there are a; got 1\n"},
      {R"({"x":1})", R"({"additionalProperties":{"type":"string"}})", "$.x: expected string; got 1\n"},
      {R"({"x":1})", R"({"properties":{"a":{}}})", ""}};
  for (const Case& expected : cases) {
    ASSERT_TRUE(check_schema(*parse_json(expected.schema)).ok()) << expected.schema;
    EXPECT_EQ(problems(expected.value, expected.schema), expected.problem)
        << expected.value << " by " << expected.schema;
  }
}

TEST(Schema, AtMostTenAreSaid) {
  const Json schema = *parse_json(R"({"items":{"type":"string"}})");
  EXPECT_EQ(validate(*parse_json("[1,2,3,4,5,6,7,8,9,10,11,12]"), schema).size(), 10u);
}

TEST(Schema, WhatIsNotUnderstoodIsRefused) {
  for (const char* schema :
       {"[]", "true", R"({"type":"text"})", R"({"type":[]})", R"({"pattern":"x"})", R"({"properties":[]})",
        R"({"required":[1]})", R"({"items":[{}]})", R"({"enum":[]})", R"({"minimum":"1"})",
        R"({"properties":{"a":{"items":{"oneOf":[]}}}})", R"({"additionalProperties":{"$ref":"#"}})"}) {
    const Status checked = check_schema(*parse_json(schema));
    ASSERT_FALSE(checked.ok()) << schema;
    EXPECT_EQ(checked.error().code, Code::bad_argument);
  }
  EXPECT_NE(check_schema(*parse_json(R"({"properties":{"a":{"items":{"oneOf":[]}}}})"))
                .error()
                .message.find("$.properties.a.items"),
            std::string::npos);
}

TEST(Schema, StrictIsClosedAndWithoutLimits) {
  const auto strict = [](const char* schema) { return is_strict(*parse_json(schema)); };
  EXPECT_TRUE(strict(R"({"type":"object","properties":{"a":{"type":"string","description":"x"}},"required":["a"],)"
                     R"("additionalProperties":false})"));
  EXPECT_FALSE(strict(R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a"]})"));
  EXPECT_FALSE(
      strict(R"({"type":"object","properties":{"a":{"type":"string"}},"required":[],"additionalProperties":false})"));
  EXPECT_FALSE(strict(R"({"type":"array","items":{"type":"integer","minimum":1}})"));
  EXPECT_FALSE(strict(R"({"type":"array","items":{"type":"object","properties":{}}})"));
}

TEST(Structured, OnlyAWholeFenceIsTakenOff) {
  const Json any = Json::object();
  EXPECT_EQ(parse_answer("```\n[1]\n```", any).json.size(), 1u);
  EXPECT_EQ(parse_answer("\n [1] \n", any).problem, "");
  EXPECT_NE(parse_answer("Here it is:\n```json\n[1]\n```", any).problem, "");
  EXPECT_NE(parse_answer("```", any).problem, "");
  EXPECT_NE(parse_answer("``````", any).problem, "");
  EXPECT_NE(parse_answer("```json\n```", any).problem, "");
  EXPECT_NE(parse_answer("", any).problem, "");
}

TEST(Difference, TheFirstIsShownWithItsPath) {
  const auto differ = [](const char* a, const char* b) { return first_difference(*parse_json(a), *parse_json(b)); };
  EXPECT_EQ(differ(R"({"a":[1]})", R"({"a":[1]})"), "");
  EXPECT_EQ(differ(R"({"a":[1,2]})", R"({"a":[1,3]})"), "`$.a[1]` was 2 and is now 3");
  EXPECT_EQ(differ(R"({"a":1})", R"({"b":1})"), "`$.a` was there and is now missing");
  EXPECT_EQ(differ(R"({})", R"({"b":1})"), "`$.b` was missing and is now there");
  EXPECT_EQ(differ("[1]", "[1,2]"), "`$` was a list of 1 and is now one of 2");
  EXPECT_EQ(differ(R"(["x\nabc"])", R"(["x\nabd"])"), R"(`$[0], line 2` was "x\nabc" and is now "x\nabd")");
  const std::string longer(200, 'x');
  const std::string text = first_difference(Json(longer + "a" + longer), Json(longer + "b" + longer));
  EXPECT_LT(text.size(), 320u);
  EXPECT_NE(text.find("xa"), std::string::npos);
}

}  // namespace
}  // namespace solstice::llm
