#include "agents/controller.h"

#include "agents/answer.h"
#include "agents/findings.h"
#include "llm/ledger.h"
#include "record/diagnosis/finding.h"
#include "record/kernel_facts.h"
#include "support/golden.h"
#include "unit/agents/support.h"

namespace solstice::agents {
namespace {

using testing::briefing;
using testing::grow;
using testing::grown;

constexpr int64_t kAny = 100'000;

Situation at(const Briefing& briefing, const Prompts& prompts, const search::Tree& tree, int node,
             int64_t most = kAny) {
  return {briefing, prompts, tree, node, most};
}

std::string shown(const std::vector<llm::Message>& messages) {
  std::string out;
  for (const llm::Message& message : messages) {
    out += std::string("======== ") + enum_names(message.role)[static_cast<size_t>(message.role)] + "\n" + message.text;
    if (!message.text.ends_with('\n')) out += "\n";
  }
  return out;
}

std::vector<llm::Message> conversation(const char* controller, const Situation& situation) {
  const auto turn = (*find_controller(controller))->turn(situation);
  EXPECT_TRUE(turn.ok()) << turn.error().text();
  return turn.ok() ? turn->messages : std::vector<llm::Message>();
}

std::string shown(const Turn& turn) { return "======== instructions\n" + turn.system + shown(turn.messages); }

TEST(Controller, GoldenConversations) {
  const Prompts sections = testing::prompts();
  const search::Tree tree = grown();
  for (const ControllerSpec* spec : all_controllers()) {
    for (const bool sol : {true, false}) {
      Briefing told = briefing();
      if (!sol) told.sol = false, told.ladder.clear(), told.practical.reset();  // as --sol off does it
      if (!sol) told.writes = Writes::kBoth;
      const auto turn = spec->turn(at(told, sections, tree, 2));
      ASSERT_TRUE(turn.ok()) << turn.error().text();
      const std::string name = std::string(spec->name) + (turn->role.empty() ? "" : "_" + turn->role);
      solstice::testing::expect_golden("prompts/" + name + (sol ? "" : "_no_sol") + ".txt", shown(*turn));
    }
  }
}

TEST(Controller, AConversationOnlyGrows) {
  const Prompts sections = testing::prompts();
  const Briefing told = briefing();
  search::Tree tree = grown();
  const auto before = conversation("inprompt", at(told, sections, tree, 2));
  grow(tree, 2, "program q", 3e-6, R"({"reason":"other"})", "other");
  const auto after = conversation("inprompt", at(told, sections, tree, 4));
  ASSERT_EQ(after.size(), before.size() + 2);
  for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i].text, before[i].text) << i;
  EXPECT_NE(after.back().text.find("the best so far"), std::string::npos);
}

TEST(Controller, WhereNothingWasLeftIsTold) {
  const Prompts sections = testing::prompts();
  const Briefing told = briefing();
  search::Tree tree = grown();
  const auto before = conversation("inprompt", at(told, sections, tree, 2));
  tree.spend(2, search::Proposal{.reason = "no wider loads", .answer = R"({"reason":"no wider loads"})"});
  const auto after = conversation("inprompt", at(told, sections, tree, 1));
  ASSERT_EQ(after.size(), before.size() + 2);
  EXPECT_EQ(after[before.size()].text, R"({"reason":"no wider loads"})");
  EXPECT_NE(after.back().text.find("Then nothing more is tried from attempt 2."), std::string::npos)
      << after.back().text;
  EXPECT_NE(after.back().text.find("# Go on from attempt 1"), std::string::npos) << after.back().text;
  const std::string flat = conversation("flat", at(told, sections, tree, 1)).front().text;
  EXPECT_NE(flat.find("nothing was left to be tried from it: no wider loads"), std::string::npos) << flat;
}

TEST(Controller, WhatDoesNotFitIsToldInALine) {
  const Prompts sections = testing::prompts();
  const Briefing told = briefing();
  search::Tree tree = grown();
  for (int i = 0; i < 6; ++i)
    grow(tree, 2, "program q" + std::to_string(i), 3e-6, "{\"reason\":\"" + std::string(600, 'r') + "\"}");
  const auto whole = conversation("inprompt", at(told, sections, tree, 2));
  const auto turn = (*find_controller("inprompt"))->turn(at(told, sections, tree, 2));
  const int64_t own = llm::estimated_tokens(turn->system);
  const auto cut = conversation("inprompt", at(told, sections, tree, 2, own + 2200));
  EXPECT_LT(cut.size(), whole.size());
  EXPECT_GT(cut.size(), 1u);
  EXPECT_EQ(cut.front().role, llm::Role::kUser);
  EXPECT_NE(cut.front().text.find("attempt 3, from attempt 2"), std::string::npos) << cut.front().text;
  EXPECT_EQ(conversation("inprompt", at(told, sections, tree, 2, 0)).size(), 1u);
}

TEST(Controller, RolesTakeTurns) {
  const Prompts sections = testing::prompts();
  const Briefing told = briefing();
  const search::Tree tree = grown();
  const auto messages = conversation("inprompt", at(told, sections, tree, 1));
  for (size_t i = 0; i < messages.size(); ++i)
    EXPECT_EQ(messages[i].role, i % 2 == 0 ? llm::Role::kUser : llm::Role::kAssistant);
}

TEST(Controller, FeedbackIsWhatWasAskedFor) {
  const Prompts sections = testing::prompts();
  search::Tree tree(Seconds(10e-6));
  search::Proposal proposal;
  proposal.program = "p";
  const int id = tree.add(proposal)->id;
  search::Measurement m;
  m.state = TrialState::kVerified;
  m.time = Seconds(5e-6);
  const Json kernel =
      Json::object().set("entry", "k1").set("registers", 255).set("spill_stores", 24).set("spill_loads", 40);
  m.record =
      Json::object().set("modules", Json::array().push(Json::object().set("kernels", Json::array().push(kernel))));
  m.record.set("trace", to_json(testing::trace()));
  m.record.set("facts", Json::array().push(
                            to_json(KernelFacts{"k1", "threads=256", {{"dram", "", "B", 2.7e6, Seconds(0.6e-6)}}})));
  Finding spill;
  spill.tool = "register spill";
  spill.severity = FindingSeverity::kHigh;
  spill.place.kernel = "k1";
  spill.also = {"k2", "k3"};
  spill.cause = "it spills";
  spill.evidence = {{"quantity", 1, "", "plan"}};
  spill.gain = {1.5, 2, "so"};
  spill.actions = {{ActionKind::kKnobs, "a smaller tile", "k1", {{"tile", "128x128x64"}}, ""}};
  m.record.set("findings", Json::array().push(to_json(spill)));
  Json counters = Json::object();
  for (int i = 0; i < 40; ++i) counters.set("counter " + std::to_string(i) + " (byte)", 1.5);
  m.record.set("counters", Json::array().push(Json::object().set("step", "k1").set("counters", counters)));
  tree.complete(id, m);
  Briefing told = briefing();
  const auto text = [&](Feedback feedback) {
    told.feedback = feedback;
    return conversation("flat", at(told, sections, tree, id)).front().text;
  };
  EXPECT_EQ(text(Feedback::kNone).find("registers"), std::string::npos);
  EXPECT_EQ(text(Feedback::kNone).find("measured:"), std::string::npos);
  EXPECT_NE(text(Feedback::kRaw).find(R"("spill_loads":40)"), std::string::npos);
  EXPECT_EQ(text(Feedback::kRaw).find("0.9 us"), std::string::npos);
  for (int i = 0; i < 40; ++i) {
    const std::string counter = "counter " + std::to_string(i) + " (byte)";
    EXPECT_NE(text(Feedback::kRaw).find('"' + counter + "\":1.5"), std::string::npos);
    for (const Feedback without : {Feedback::kNone, Feedback::kTools})
      EXPECT_EQ(text(without).find(counter), std::string::npos) << "a bare counter";
  }
  for (const char* finding :
       {"- used: `k1` 3 TB/s, 67 % of what memory gives\n", "- left to the families: `k1` threads=256\n"}) {
    EXPECT_EQ(text(Feedback::kNone).find(finding), std::string::npos);
    EXPECT_EQ(text(Feedback::kRaw).find(finding), std::string::npos);
    EXPECT_NE(text(Feedback::kTools).find(finding), std::string::npos);
  }
  EXPECT_NE(text(Feedback::kTools).find("- measured: kernel `k1` 0.9 us"), std::string::npos);
  EXPECT_NE(
      text(Feedback::kTools)
          .find("- `k1` and 2 alike: it spills; at most 1.50x of the whole; try: a smaller tile (tile=128x128x64)"),
      std::string::npos);
}

TEST(Controller, WhatCouldNotBeTracedIsNoFinding) {
  search::Measurement m;
  m.record = Json::object().set("trace", to_json(KernelTrace{{}, "no CUPTI"}));
  EXPECT_TRUE(findings_of(m, true).empty());
  m.record.set("trace", Json("damaged"));
  EXPECT_EQ(findings_of(m, true).size(), 1u);
}

// Times by kernel are measurements; what they are set beside is the speed of light in other words.
TEST(Controller, WithoutTheSpeedOfLightThereIsNoWordOfCostModels) {
  const auto cost = [](const char* kernel) {
    return Json::object().set("kernel", kernel).set("family", "map").set("seconds", 2e-6).set("bound", "dram");
  };
  search::Measurement m;
  m.state = TrialState::kVerified;
  m.time = Seconds(5e-6);
  m.record = Json::object().set("costs", Json::array().push(cost("k1")).push(cost("k2")));
  m.record.set("facts", Json::array().push(
                            to_json(KernelFacts{"k1", "threads=256", {{"dram", "", "B", 2.7e6, Seconds(0.6e-6)}}})));
  const std::vector<std::string> choices = {"left to the families: `k1` threads=256"};
  EXPECT_EQ(findings_of(m, true).front(),
            "the cost model gives kernel `k1` (by map) 2 us, 50 % of the sum, limited by dram");
  EXPECT_EQ(findings_of(m, false), choices);
  m.record.set("trace", to_json(testing::trace()));
  EXPECT_NE(findings_of(m, true).front().find("(predicted 0.8 us)"), std::string::npos);
  EXPECT_EQ(findings_of(m, false).front(),
            "measured: kernel `k1` 0.9 us, `k2` 2.7 us (`k2-split` 0.3 us, `k2` 2.4 us)");
}

// A prompt has the gravest five, and none of no weight.
TEST(Controller, FindingsOfAPromptAreFew) {
  search::Measurement m;
  Json all = Json::array();
  for (int i = 0; i < 9; ++i) {
    Finding finding;
    finding.tool = "tool";
    finding.cause = "cause " + std::to_string(i);
    finding.evidence = {{"quantity", 1, "", "plan"}};
    finding.severity = i % 2 ? FindingSeverity::kHigh : FindingSeverity::kNote;
    finding.gain = {1.2, 1.2, ""};
    all.push(to_json(finding));
  }
  m.record.set("findings", all);
  EXPECT_EQ(findings_of(m, true).size(), 4u);
  EXPECT_EQ(findings_of(m, true).front(), "cause 1; at most 1.20x of the whole");
  EXPECT_EQ(findings_of(m, false).front(), "cause 1");
}

TEST(Controller, TheGrammarPageFits) {
  const auto page = read_file(std::filesystem::path(SOLSTICE_SOURCE_DIR) / "docs/grammar.md");
  ASSERT_TRUE(page.ok());
  const auto section = testing::prompts().section("language", {{"grammar", *page}});
  ASSERT_TRUE(section.ok());
  EXPECT_NE(section->find(page->substr(page->size() - 100)), std::string::npos)
      << llm::estimated_tokens(*page) << " tokens";
}

TEST(Controller, AnUnknownOneIsAnErrorWithTheKnown) {
  EXPECT_EQ(find_controller("mantis").error().sentence(),
            "there is no controller `mantis`; there are flat, inprompt, reflexion, sampling, "
            "stark");
}

}  // namespace
}  // namespace solstice::agents
