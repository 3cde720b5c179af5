#include "agents/agent.h"

#include "unit/agents/support.h"

namespace solstice::agents {
namespace {

using testing::answer;
using testing::briefing;
using testing::grown;
using testing::nothing_left;
using testing::says;
using testing::Script;

AgentOptions options_of(const char* controller) {
  AgentOptions out;
  out.controller = *find_controller(controller);
  out.origin = "model";
  return out;
}

// `illegal` is refused, `unwanted` not asked for, all else may be compiled.
Result<Complaint> check(const std::string& program) {
  if (program.find("unwanted") != program.npos) return Complaint{"that was not asked for", false};
  if (program.find("illegal") == program.npos) return Complaint{"", false};
  return Complaint{"candidate:1:1: error[E000]: this is illegal"};
}

Result<std::optional<search::Proposal>> asked(Script& script, const search::Tree& tree, int node) {
  Agent agent(options_of("flat"), briefing(), testing::prompts(), script.client(), check);
  return agent.propose(tree, node);
}

search::Proposal proposed(Script& script, const search::Tree& tree, int node) {
  auto found = asked(script, tree, node);
  EXPECT_TRUE(found.ok()) << found.error().text();
  return found.ok() && *found ? **found : search::Proposal();
}

TEST(Agent, EditsGoOnFromTheNodeOfThePolicy) {
  Script script({says(answer("wider", "vector=4", "vector=16").dump())});
  const search::Tree tree = grown();
  const search::Proposal found = proposed(script, tree, 2);
  EXPECT_EQ(found.program, "program p\nkernel a by map(vector=16) {\n  y[i] = x[i] + 1\n}\n");
  EXPECT_EQ(found.reason, "wider");
  EXPECT_EQ(found.origin, "model");
  EXPECT_EQ(found.tokens, 110);
  EXPECT_EQ(found.repairs, 0);
  EXPECT_EQ(found.answer, answer("wider", "vector=4", "vector=16").dump());
}

TEST(Agent, AnIllegalProgramIsMendedForFree) {
  Script script({says(answer("a", "vector=4", "illegal=4").dump()), says(answer("b", "illegal", "vector").dump()),
                 says(answer("c", "vector=4", "vector=2").dump())});
  const search::Tree tree = grown();
  const search::Proposal found = proposed(script, tree, 2);
  EXPECT_EQ(found.program, "program p\nkernel a by map(vector=2) {\n  y[i] = x[i] + 1\n}\n");
  EXPECT_EQ(found.repairs, 2);  // not legal; tried before
  EXPECT_EQ(found.tokens, 330);
  EXPECT_NE(script.request(2).find("error[E000]"), std::string::npos);
  EXPECT_NE(script.request(3).find("this very program was attempt 2"), std::string::npos);
}

TEST(Agent, AfterItsRepairsTheAttemptCounts) {
  std::vector<std::string> replies;
  for (const char* number : {"1", "2", "3", "4"}) {
    replies.push_back(says(answer(std::string("try ") + number, std::string("illegal ") + number).dump()));
  }
  Script script(replies);
  const search::Tree tree = grown();
  const search::Proposal found = proposed(script, tree, 2);
  EXPECT_EQ(found.program, "illegal 4");
  EXPECT_EQ(found.reason, "try 4");
  EXPECT_EQ(found.repairs, 3);
}

TEST(Agent, WhatWasNotAskedForIsNoCandidate) {
  std::vector<std::string> replies;
  for (const char* number : {"1", "2", "3", "4"})
    replies.push_back(says(answer("try", std::string("unwanted ") + number).dump()));
  Script script(replies);
  EXPECT_EQ(proposed(script, grown(), 2).program, "# attempt 4 brought no program: that was not asked for\n");
}

// Nor after another complaint than that: what the last repair was is no judgement of the program before it.
TEST(Agent, WhatWasNotAskedForIsNoCandidateWhateverTheLastRepair) {
  const std::string unwanted = says(answer("try", "unwanted").dump());
  for (const std::string& last :
       {says("half of", "truncated"), says(""), says(answer("try", "no such text", "x").dump())}) {
    Script script({unwanted, unwanted, unwanted, last});
    const search::Proposal found = proposed(script, grown(), 2);
    EXPECT_EQ(found.program.substr(0, 32), "# attempt 4 brought no program: ") << found.program;
    EXPECT_TRUE(found.barren);
    EXPECT_EQ(found.repairs, 3);
  }
  Script script({unwanted, says(answer("try", "illegal").dump()), says("", "refused")});
  EXPECT_EQ(proposed(script, grown(), 2).program, "illegal") << "it was asked for, and fails as a candidate";
}

// Who asked and what came back are two things.
TEST(Agent, AnAttemptWithoutAnAnswerIsTheModelsAllTheSame) {
  Script script({says("I cannot do that.", "refused")});
  search::Tree tree = grown();
  search::Proposal found = proposed(script, tree, 2);
  EXPECT_EQ(found.answer, "") << "it said nothing that could be read";
  EXPECT_TRUE(found.by_model());
  ASSERT_TRUE(found.barren);
  found.parent = 2;
  const int node = tree.add(std::move(found))->id;
  search::Measurement failed;
  failed.state = TrialState::kIllegal;
  tree.complete(node, std::move(failed));
  EXPECT_FALSE(tree.node(node).open()) << "there is no program to go on from";
  const search::Proposal again = from_json<search::Proposal>(to_json(tree.node(node).proposal)).value();
  EXPECT_TRUE(again.barren && again.by_model());
  EXPECT_TRUE(
      from_json<search::Proposal>(*parse_json(R"({"program":"p","reason":"","parent":0,"answer":"{}"})"))->by_model())
      << "earlier versions told by the answer";
}

TEST(Agent, TokensThatNobodyCountsAreEstimated) {
  Script script({Json::object().set("text", answer("a", "program r").dump()).dump()});
  EXPECT_GT(proposed(script, grown(), 2).tokens, 100);
}

// A provider would refuse the whole conversation, which ends the search.
TEST(Agent, ARepairThatTheContextHasNoRoomForIsNotAskedFor) {
  const std::string illegal = "illegal " + std::string(3000, 'x');
  Script script({says(answer("a", illegal).dump()), says(answer("b", "program r").dump())});
  AgentOptions options = options_of("flat");
  const search::Tree tree = grown();
  const Json first = *parse_json([&] {
    Script ask({says(answer("a", "program r").dump())});
    proposed(ask, tree, 2);
    return ask.request(1);
  }());
  options.most_repaired = llm::estimated_tokens(*from_json<llm::Request>(first)) + 1000;
  Agent agent(std::move(options), briefing(), testing::prompts(), script.client(), check);
  const auto found = agent.propose(tree, 2);
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ((*found)->program, illegal);
  EXPECT_EQ((*found)->repairs, 0);
}

TEST(Agent, AllQuestionsOfAnAttemptEndWithTheSearch) {
  Script script({says(answer("a", "illegal").dump()), says(answer("b", "program r").dump())});
  AgentOptions options = options_of("flat");
  int asked = 0;
  options.left = [&] { return Seconds(++asked == 1 ? 0.0 : 100.0); };
  Agent agent(std::move(options), briefing(), testing::prompts(), script.client(), check);
  const auto found = agent.propose(grown(), 2);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, Code::deadline) << found.error().text();
  EXPECT_EQ(asked, 1);
}

TEST(Agent, AnswersWithoutAProgramAreAttemptsToo) {
  const search::Tree tree = grown();
  {
    Script script({says("I cannot do that.", "refused")});
    const search::Proposal found = proposed(script, tree, 2);
    EXPECT_EQ(found.program, "# attempt 4 brought no program: the answer was refused\n");
    EXPECT_EQ(found.repairs, 0);
  }
  {
    Script script({says(""), says("half of", "truncated"), says(answer("at last", "program r").dump())});
    const search::Proposal found = proposed(script, tree, 2);
    EXPECT_EQ(found.program, "program r");
    EXPECT_EQ(found.repairs, 2);
    EXPECT_NE(script.request(2).find("the answer was empty"), std::string::npos);
    EXPECT_NE(script.request(3).find("cut off after 16384 tokens"), std::string::npos);
  }
  {
    // Each is asked for once more by the client, before the agent hears of it.
    std::vector<std::string> replies(8, says("no JSON"));
    Script script(replies);
    const search::Proposal found = proposed(script, tree, 2);
    EXPECT_EQ(found.program.substr(0, 40), "# attempt 4 brought no program: the answ");
    EXPECT_EQ(found.repairs, 3);
  }
}

TEST(Agent, NothingLeftIsNoCandidateAndSaysWhy) {
  const Json both = answer("r", "program q").set("nothing_left", "here");
  Script script({says(both.dump()), says(nothing_left("here", "it moves its bytes at the rate of memory").dump())});
  const search::Proposal found = proposed(script, grown(), 2);
  EXPECT_EQ(found.program, "");
  EXPECT_EQ(found.reason, "it moves its bytes at the rate of memory");
  EXPECT_EQ(found.repairs, 1);
  EXPECT_EQ(found.tokens, 220);
  EXPECT_EQ(found.answer, nothing_left("here", "it moves its bytes at the rate of memory").dump());
}

TEST(Agent, WhoeverWatchesHearsOfWhatNothingIsLeft) {
  std::vector<std::string> news;
  for (const char* where : {"here", "anywhere"}) {
    Script script({says(nothing_left(where, "memory is the limit").dump())});
    AgentOptions options = options_of("flat");
    options.news = [&](const std::string& text) { news.push_back(text); };
    Agent agent(std::move(options), briefing(), testing::prompts(), script.client(), check);
    ASSERT_TRUE(agent.propose(grown(), 2).ok());
  }
  ASSERT_EQ(news.size(), 4u);
  EXPECT_EQ(news[1], "nothing is left from attempt 2: memory is the limit");
  EXPECT_EQ(news[3], "nothing is left of any program: memory is the limit");
}

// Each node costs a question, unless the answer is of all.
TEST(Agent, WhatIsSaidOfAllProgramsIsAskedOnceUntilThereIsNews) {
  search::Tree tree = grown();
  Script script({says(nothing_left("here", "a").dump()),
                 says("```json\n" + nothing_left("anywhere", "b").dump() + "\n```"),
                 says(nothing_left("anywhere", "c").dump())});
  for (const auto& [node, reason, asked] :
       {std::tuple{2, "a", true}, {1, "b", true}, {3, "b", false}, {0, "b", false}}) {
    search::Proposal found = proposed(script, tree, node);
    EXPECT_EQ(found.program, "");
    EXPECT_EQ(found.reason, reason);
    EXPECT_EQ(!found.answer.empty(), asked);
    EXPECT_EQ(found.tokens, asked ? 110 : 0);
    tree.spend(node, std::move(found));
  }
  testing::grow(tree, 2, "program r", 3e-6);
  EXPECT_EQ(proposed(script, tree, 4).reason, "c");
}

TEST(Agent, AProviderThatFailsIsAnErrorThatNamesIt) {
  Script script({R"({"error": {"message": "out of order"}})"});
  const auto found = asked(script, grown(), 2);
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().text().find("command"), std::string::npos) << found.error().text();
  EXPECT_NE(found.error().text().find("out of order"), std::string::npos) << found.error().text();
}

}  // namespace
}  // namespace solstice::agents
