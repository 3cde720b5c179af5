// The roles of `stark`: their windows and conversations, whole attempts with a scripted model, attempts broken off.
#include <fmt/format.h>

#include <set>

#include "agents/agent.h"
#include "search/attempt.h"
#include "support/golden.h"
#include "unit/agents/support.h"

namespace solstice::agents {
namespace {

using testing::briefing;
using testing::grow;
using testing::grown;
using testing::says;
using testing::Script;

constexpr const char* kMarked =
    "program p\n# <<<IMPROVE BEGIN: a wider kernel>>>\nkernel a by map(vector=4) {\n# <<<IMPROVE END>>>\n  y[i] = x[i] "
    "+ "
    "1\n}\n";

const ControllerSpec& stark() { return **find_controller("stark"); }

search::Proposal turn_with(const char* role, const std::string& reason, Json artefact) {
  search::Proposal out;
  out.role = role;
  out.reason = reason;
  out.origin = "model";
  out.artefact = std::move(artefact);
  return out;
}

search::Proposal plan_note() {
  return turn_with("plan", "load 16 values a thread with vector=16",
                   Json::object().set("marked", kMarked).set("what", "a wider kernel"));
}

Turn asked(const Briefing& told, const search::Tree& tree, int node, int64_t most = 100'000) {
  const Prompts sections = testing::prompts();
  auto turn = stark().turn({told, sections, tree, node, most});
  EXPECT_TRUE(turn.ok()) << turn.error().text();
  return turn.ok() ? *std::move(turn) : Turn();
}

std::string text_of(const Turn& turn) {
  return "======== instructions\n" + turn.system + "======== user\n" + turn.messages.back().text;
}

TEST(Stark, GoldenConversationsOfTheOtherRoles) {
  Briefing told = briefing();
  search::Tree tree = grown();
  const Turn debug = asked(told, tree, 3);
  EXPECT_EQ(debug.role, "debug");
  solstice::testing::expect_golden("prompts/stark_debug.txt", text_of(debug));
  tree.note(2, plan_note());
  const Turn code = asked(told, tree, 2);
  EXPECT_EQ(code.role, "code");
  solstice::testing::expect_golden("prompts/stark_code.txt", text_of(code));
  told.writes = Writes::kBoth;
  const Turn look = asked(told, tree, 2);
  ASSERT_EQ(look.queries.size(), 1u);
  EXPECT_EQ(look.queries[0], "load 16 values a thread with vector=16") << "the advice is the query";
  tree.note(2, turn_with("look", "", Json::object().set("found", "### load\nkernels/map/map.h:1-3\n")));
  solstice::testing::expect_golden("prompts/stark_code_both.txt", text_of(asked(told, tree, 2)));
}

TEST(Stark, EachRoleHasItsTemperature) {
  const Briefing told = briefing();
  search::Tree tree = grown();
  EXPECT_EQ(asked(told, tree, 2).temperature, 0.8);
  EXPECT_EQ(asked(told, tree, 3).temperature, 0.1);
  tree.note(2, plan_note());
  EXPECT_EQ(asked(told, tree, 2).temperature, 0.1);
}

// The attempts whose numbers stand in the question as headings of what was tried.
std::set<int> window_of(const Turn& turn) {
  std::set<int> out;
  const std::string& text = turn.messages.back().text;
  for (int i = 1; i < 100; ++i) {
    for (const char* by : {", by the expert, from ", ", from "})
      if (text.find(fmt::format("\nattempt {}{}", i, by)) != text.npos) out.insert(i);
  }
  return out;
}

// 1 and 2 below the problem; 3, 4 below 1; 5, 6 below 2; 7 below 3; 8 fails below 3; 9 below 6.
search::Tree family() {
  search::Tree tree(Seconds(10e-6));
  int number = 0;
  for (const auto& [parent, us] :
       {std::pair{0, 9.0}, {0, 8.0}, {1, 7.0}, {1, 6.0}, {2, 5.0}, {2, 4.0}, {3, 3.0}, {3, 0.0}, {6, 3.5}})
    grow(tree, parent, fmt::format("program p{}", ++number), us * 1e-6);
  return tree;
}

TEST(Stark, WindowsAreThePublishedOnes) {
  const Briefing told = briefing();
  search::Tree tree = family();
  EXPECT_EQ(window_of(asked(told, tree, 6)), (std::set{5, 7, 9})) << "its child; the leaders outside of its subtree";
  EXPECT_EQ(window_of(asked(told, tree, 7)), (std::set{6, 9})) << "the leaders outside of its subtree";
  EXPECT_EQ(window_of(asked(told, tree, 0)), (std::set{1, 2})) << "all are in its subtree";
  EXPECT_EQ(window_of(asked(told, tree, 8)), (std::set{7})) << "its siblings";
  tree.note(4, plan_note());
  EXPECT_EQ(window_of(asked(told, tree, 4)), (std::set{7, 8})) << "children of its sibling 3";
}

TEST(Stark, WindowsOfMoreThanFiveAreSampledByTheSeed) {
  Briefing told = briefing();
  search::Tree tree = family();
  for (int i = 0; i < 6; ++i) grow(tree, 1, fmt::format("program q{}", i), 2e-6);
  std::set<std::set<int>> seen;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    told.seed = seed;
    const std::set<int> window = window_of(asked(told, tree, 1));
    EXPECT_EQ(window.size(), 3u) << "with the node and the problem they are five";
    EXPECT_EQ(window_of(asked(told, tree, 1)), window);
    seen.insert(window);
  }
  EXPECT_GT(seen.size(), 5u);
}

TEST(Stark, ARepairInheritsThePlan) {
  const Briefing told = briefing();
  search::Tree tree = grown();
  tree.note(2, plan_note());
  const int failed = grow(tree, 2, "program r", 0, "{}");
  EXPECT_NE(asked(told, tree, failed).messages.back().text.find("load 16 values a thread"), std::string::npos);
  const int repair = grow(tree, failed, "program s", 0, "{}");
  EXPECT_NE(asked(told, tree, repair).messages.back().text.find("load 16 values a thread"), std::string::npos);
  const int other = grow(tree, 1, "program t", 0, "{}");
  EXPECT_EQ(asked(told, tree, other).messages.back().text.find("load 16 values a thread"), std::string::npos);
}

Json plan(const std::string& advice, const std::string& find, const std::string& replace) {
  Json out = testing::answer(advice, find, replace);
  return out.set("look", Json::array());
}

Json good_plan() {
  return plan("load more at once", "kernel a by map(vector=4) {\n",
              "# <<<IMPROVE BEGIN: wider>>>\nkernel a by map(vector=4) {\n# <<<IMPROVE END>>>\n");
}

Json body(const std::string& text, const std::vector<std::string>& look = {}) {
  Json queries = Json::array();
  for (const std::string& query : look) queries.push(query);
  return Json::object().set("look", queries).set("reason", "wider loads").set("body", text);
}

Result<Complaint> anything_but_illegal(const std::string& program) {
  return Complaint{program.find("illegal") == program.npos ? "" : "candidate:2:1: error[E000]: this is illegal"};
}

struct Looked {
  std::vector<std::string> queries;
  std::vector<int64_t> limits;
};

Agent agent_with(Script& script, Looked& looked, Writes writes = Writes::kUcut) {
  AgentOptions options;
  options.controller = &stark();
  options.origin = "model";
  options.look = [&looked](const std::string& query, int64_t most) -> Result<std::string> {
    looked.queries.push_back(query);
    looked.limits.push_back(most);
    return "found " + query + "\n" + std::string(40'000, 'x');
  };
  Briefing told = briefing();
  told.writes = writes;
  return Agent(std::move(options), std::move(told), testing::prompts(), script.client(), anything_but_illegal);
}

// All turns of an attempt; its candidate.
search::Proposal whole_attempt(Agent& agent, search::Tree& tree, int node) {
  while (true) {
    auto turn = agent.propose(tree, node);
    EXPECT_TRUE(turn.ok()) << turn.error().text();
    if (!turn.ok() || (*turn)->role.empty()) return turn.ok() ? **turn : search::Proposal();
    tree.note(node, **turn);
  }
}

TEST(Stark, ThePlannerMarksAndTheCoderWritesThatBlock) {
  Script script({says(good_plan().dump()), says(body("kernel a by map(vector=16) {\n").dump())});
  Looked looked;
  search::Tree tree = grown();
  Agent agent = agent_with(script, looked);
  const search::Proposal found = whole_attempt(agent, tree, 2);
  EXPECT_EQ(found.program, "program p\nkernel a by map(vector=16) {\n  y[i] = x[i] + 1\n}\n");
  EXPECT_EQ(found.reason, "wider loads");
  EXPECT_EQ(found.tokens, 220) << "of both turns";
  ASSERT_EQ(tree.events().back().kind, search::Event::Kind::kNoted);
  const search::Proposal& noted = *tree.events().back().proposal;
  EXPECT_EQ(noted.role, "plan");
  EXPECT_EQ(noted.reason, "load more at once");
  EXPECT_EQ(noted.artefact.at("what").as_string(), "wider");
  EXPECT_EQ(noted.answer, good_plan().dump());
  EXPECT_TRUE(noted.by_model());
  EXPECT_NE(script.request(1).find("\"label\":\"plan\""), std::string::npos);
  EXPECT_NE(script.request(1).find("\"temperature\":0.8"), std::string::npos);
  EXPECT_NE(script.request(2).find("\"temperature\":0.1"), std::string::npos);
  EXPECT_NE(script.request(2).find("The advice: load more at once"), std::string::npos);
  EXPECT_TRUE(looked.queries.empty()) << "families have no examples in the index";
}

TEST(Stark, MistakesOfEitherComeBack) {
  Script script({says(plan("a", "kernel a by map(vector=4)", "kernel a by map(vector=8)").dump()),
                 says(good_plan().dump()), says(body("program p\nkernel a by map(vector=16) {\n").dump()),
                 says(body("# <<<IMPROVE BEGIN: wider>>>\nx\n# <<<IMPROVE END>>>\n").dump()),
                 says(body("illegal {\n").dump()), says(body("kernel a by map(vector=16) {\n").dump())});
  Looked looked;
  search::Tree tree = grown();
  Agent agent = agent_with(script, looked);
  const search::Proposal found = whole_attempt(agent, tree, 2);
  EXPECT_EQ(found.program, "program p\nkernel a by map(vector=16) {\n  y[i] = x[i] + 1\n}\n");
  EXPECT_EQ(found.repairs, 4);
  EXPECT_NE(script.request(2).find("no block is marked"), std::string::npos);
  EXPECT_NE(script.request(4).find("repeats what stands before the block"), std::string::npos);
  EXPECT_NE(script.request(5).find("the body has no markers"), std::string::npos);
  EXPECT_NE(script.request(6).find("this is illegal"), std::string::npos);
  EXPECT_NE(script.request(6).find("the whole body of the block"), std::string::npos);
}

TEST(Stark, APlanThatNeverComesIsAnAttempt) {
  const std::string bad = says(plan("a", "kernel a", "kernel b").dump());
  Script script({bad, bad, bad, bad});
  Looked looked;
  search::Tree tree = grown();
  Agent agent = agent_with(script, looked);
  const search::Proposal found = whole_attempt(agent, tree, 2);
  EXPECT_TRUE(found.barren);
  EXPECT_NE(found.program.find("# attempt 4 brought no program: no block is marked"), std::string::npos)
      << found.program;
}

TEST(Stark, ThePlannerMaySayThatNothingIsLeft) {
  Script script({says(testing::nothing_left("anywhere", "at the bound").set("look", Json::array()).dump())});
  Looked looked;
  search::Tree tree = grown();
  Agent agent = agent_with(script, looked);
  search::Proposal found = whole_attempt(agent, tree, 2);
  EXPECT_EQ(found.program, "");
  EXPECT_EQ(found.reason, "at the bound");
  tree.spend(2, std::move(found));
  EXPECT_EQ(whole_attempt(agent, tree, 1).reason, "at the bound") << "it is not asked again";
}

TEST(Stark, WhereDeviceCodeMayBeWrittenTheAdviceIsLookedUp) {
  Script script({says(good_plan().dump()), says(body("kernel a by map(vector=16) {\n").dump())});
  Looked looked;
  search::Tree tree = grown();
  Agent agent = agent_with(script, looked, Writes::kBoth);
  whole_attempt(agent, tree, 2);
  EXPECT_EQ(looked.queries, std::vector<std::string>{"load more at once"});
  const auto turns = search::open_turns(tree);
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_EQ(turns[1]->role, "look");
  EXPECT_EQ(turns[1]->artefact.at("asked").items()[0].as_string(), "load more at once");
  EXPECT_NE(script.request(2).find("found load more at once"), std::string::npos);
}

TEST(Looks, AreAnsweredWithinTheirLimits) {
  std::vector<std::string> many(10'000, "wgmma");
  many[0] = "cutlass/include/a.h:1-20";
  Script script({says(good_plan().dump()), says(body("", {"tma multicast", " "}).dump()), says(body("", many).dump()),
                 says(body("", {"one more"}).dump()), says(body("kernel a by map(vector=16) {\n").dump())});
  Looked looked;
  search::Tree tree = grown();
  Agent agent = agent_with(script, looked);
  const search::Proposal found = whole_attempt(agent, tree, 2);
  EXPECT_EQ(found.program, "program p\nkernel a by map(vector=16) {\n  y[i] = x[i] + 1\n}\n");
  EXPECT_EQ(looked.queries, (std::vector<std::string>{"tma multicast", "cutlass/include/a.h:1-20", "wgmma", "wgmma",
                                                      "wgmma", "wgmma"}));
  EXPECT_EQ(found.repairs, 1) << "more than six are a mistake, the others cost nothing";
  for (const int64_t limit : looked.limits) EXPECT_LE(limit, kMostLookTokens);
  EXPECT_LT(script.request(3).size(), script.request(2).size() + 3 * 2 * kMostLookTokens) << "cut";
  EXPECT_NE(script.request(4).find("(9995 more were not looked up)"), std::string::npos);
  EXPECT_NE(script.request(5).find("`look` is used up: 6 a draft"), std::string::npos);
  EXPECT_EQ(tree.trials(), 3) << "no trial is spent";
}

}  // namespace
}  // namespace solstice::agents
