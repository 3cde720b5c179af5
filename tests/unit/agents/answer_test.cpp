#include "agents/answer.h"

#include "llm/schema.h"
#include "unit/agents/support.h"

namespace solstice::agents {
namespace {

using testing::answer;
using testing::nothing_left;

std::string why(const Json& given, const std::string& base) {
  const auto program = program_of(given, base);
  return program.ok() ? "" : program.error().message;
}

TEST(Answer, AProgramOrEditsOfTheBase) {
  EXPECT_EQ(**program_of(answer("r", "whole"), "base"), "whole");
  EXPECT_EQ(**program_of(answer("r", "map()", "map(vector=4)"), "kernel a by map() {}"),
            "kernel a by map(vector=4) {}");
  Json two = answer("r", "a", "b");
  Json edits = two.at("edits");
  edits.push(Json::object().set("find", "bc").set("replace", "d"));  // of what the first has made
  two.set("edits", edits);
  EXPECT_EQ(**program_of(two, "ac"), "d");
}

TEST(Answer, OrThatNothingIsLeft) {
  for (const char* where : {"here", "anywhere"}) {
    const auto program = program_of(nothing_left(where, "r"), "base");
    ASSERT_TRUE(program.ok());
    EXPECT_FALSE(*program);
    EXPECT_EQ(says_nothing_left_anywhere(nothing_left(where, "r")), std::string(where) == "anywhere");
  }
  EXPECT_EQ(why(answer("r", "p").set("nothing_left", "here"), "base"),
            "`nothing_left` is `here`, and there is a candidate: give one of them");
  EXPECT_TRUE(llm::validate(answer("r", "p").set("nothing_left", "perhaps"), answer_schema()).size());
}

TEST(Answer, WhatIsWrongIsSaidToWhoeverAnswered) {
  EXPECT_EQ(why(answer("r", ""), "base"), "there are neither `edits` nor a `program`");
  EXPECT_EQ(why(answer("r", "x", "y"), "base"),
            "`find` of edit 1 does not occur in the program, where it must occur once:\nx");
  EXPECT_EQ(why(answer("r", "a", "y"), "banana"),
            "`find` of edit 1 occurs 3 times in the program, where it must occur once:\na");
  EXPECT_EQ(why(answer("r", "", "y"), "base"), "`find` of edit 1 is empty");
  EXPECT_EQ(why(answer("r", "a", "y").set("program", "p"), "a"), "there are `edits` and a `program`: give one of them");
}

TEST(Answer, TheSchemaIsOneThatProvidersTakeAsAParameter) {
  const Briefing told = testing::briefing();
  const Prompts sections = testing::prompts();
  const search::Tree tree = testing::grown();
  for (const ControllerSpec* spec : all_controllers()) {
    for (const int node : {0, 2, 3}) {
      const auto turn = spec->turn({told, sections, tree, node, 100'000});
      ASSERT_TRUE(turn.ok()) << turn.error().text();
      EXPECT_TRUE(llm::check_schema(turn->schema).ok()) << spec->name;
      EXPECT_TRUE(llm::is_strict(turn->schema)) << spec->name;
    }
  }
  EXPECT_TRUE(llm::validate(answer("r", "p"), answer_schema()).empty());
}

}  // namespace
}  // namespace solstice::agents
