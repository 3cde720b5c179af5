// What a model is told of a measurement, by --feedback: a kernel whose counters were recorded on an H200, diagnosed as
// a trial is. Golden prompts; SOLSTICE_UPDATE_GOLDEN=1 writes them anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "agents/attempts.h"
#include "agents/controller.h"
#include "base/file.h"
#include "diagnose/counters/counter_table.h"
#include "evaluate/findings/diagnosis.h"
#include "llm/ledger.h"
#include "support/golden.h"

namespace solstice::flow {
namespace {

constexpr int64_t kMostTokens = 1500;  // of feedback in words (docs/agents.md)

Facts recorded() {
  const auto text = read_file(SOLSTICE_SOURCE_DIR "/tests/sick/facts/banks_transpose.sick.counters.json");
  EXPECT_TRUE(text.ok()) << text.error().text();
  auto facts = read_facts(*parse_json(*text));
  EXPECT_TRUE(facts.ok()) << facts.error().text();
  return std::move(*facts);
}

// As ptxas has it in a trial's record.
Json modules_of(const Facts& facts) {
  Json kernels = Json::array();
  for (const KernelSheet& kernel : facts.kernels) {
    for (const StepFacts& step : kernel.steps) {
      kernels.push(Json::object()
                       .set("entry", step.entry)
                       .set("registers", step.registers.value_or(0))
                       .set("spill_stores", step.spill_stores.value_or(0))
                       .set("spill_loads", step.spill_loads.value_or(0)));
    }
  }
  return Json::array().push(Json::object().set("kernels", kernels).set("notes", Json::array()));
}

search::Tree tree_of(const Facts& facts) {
  const evaluate::Setting setting{*machine::load_machine(facts.machine), facts.numerics, facts.frozen};
  search::Measurement m;
  m.state = TrialState::kVerified;
  m.time = *facts.measured;
  m.record = Json::object().set("modules", modules_of(facts)).set("seconds", Json::array().push(m.time.value));
  evaluate::add_findings(facts, setting, {}, m.record);
  search::Tree tree(m.time * 2);
  search::Proposal proposal;
  proposal.program = facts.program.substr(0, facts.program.find("\nsource"));
  proposal.reason = "the first choice";
  proposal.origin = "expert";
  tree.complete(tree.add(std::move(proposal))->id, std::move(m));
  return tree;
}

agents::Briefing briefing_of(const Facts& facts, agents::Feedback feedback) {
  agents::Briefing out;
  out.machine = *machine::load_machine(facts.machine);
  out.equations = "y[j,i] = x[i,j]\n";
  out.setting = "Machine: one H200.";
  out.grammar = out.families = out.ladder = "(left out)";
  out.practical = facts.bounds.practical;
  out.feedback = feedback;
  return out;
}

std::string question_of(const agents::Briefing& briefing, const search::Tree& tree) {
  const auto prompts = agents::Prompts::load(std::filesystem::path(SOLSTICE_SOURCE_DIR) / "prompts");
  EXPECT_TRUE(prompts.ok());
  const auto asked = (*agents::find_controller("inprompt"))->turn({briefing, *prompts, tree, 1, 100'000});
  EXPECT_TRUE(asked.ok()) << asked.error().text();
  return asked->messages.back().text;
}

// Names as prompts have them, and as ncu does.
std::vector<std::string> counters_in(const std::string& text, const Facts& facts) {
  std::vector<std::string> out;
  for (const auto& [metric, value] : facts.kernels[0].steps[0].counters->metrics) {
    const diagnose::Counter* counter = diagnose::find_counter(metric);
    EXPECT_TRUE(counter) << metric;
    const std::string name = fmt::format("{} ({})", counter->name, counter->unit);
    if (text.find(name) != text.npos || text.find(metric) != text.npos) out.push_back(name);
  }
  return out;
}

TEST(Feedback, OfRecordedCountersIsNothingTheCountersOrFindings) {
  const Facts facts = recorded();
  const search::Tree tree = tree_of(facts);
  for (const agents::Feedback feedback : {agents::Feedback::kNone, agents::Feedback::kRaw, agents::Feedback::kTools}) {
    const agents::Briefing briefing = briefing_of(facts, feedback);
    const std::string question = question_of(briefing, tree), name = enum_name(feedback);
    testing::expect_golden("prompts/feedback_" + name + ".txt", question);
    const std::vector<std::string> told = agents::feedback_of(tree.node(1), briefing);
    const size_t counters = counters_in(question, facts).size();
    if (feedback == agents::Feedback::kRaw) {
      EXPECT_GE(counters, 40u);
    } else {
      EXPECT_EQ(counters, 0u) << counters_in(question, facts)[0];
    }
    EXPECT_EQ(told.empty(), feedback == agents::Feedback::kNone);
  }
}

// A bound and what may be tried come with each; what was counted is an argument of a sentence.
TEST(Feedback, InWordsIsFewFindingsWithinItsLimit) {
  const Facts facts = recorded();
  const search::Tree tree = tree_of(facts);
  const auto told = agents::feedback_of(tree.node(1), briefing_of(facts, agents::Feedback::kTools));
  int64_t tokens = 0;
  for (const std::string& line : told) tokens += llm::estimated_tokens(line);
  EXPECT_LE(tokens, kMostTokens);
  const auto found = std::count_if(told.begin(), told.end(),
                                   [](const std::string& line) { return line.find("; at most ") != line.npos; });
  EXPECT_GE(found, 1);
  EXPECT_LE(found, 5);
}

// Hundreds of kernels: the program itself must stay in the prompt.
TEST(Feedback, OfManyKernelsIsCutToItsLimit) {
  Facts facts = recorded();
  const KernelSheet one = facts.kernels[0];
  facts.kernels.clear();
  for (int i = 0; i < 500; ++i) {
    facts.kernels.push_back(one);
    facts.kernels.back().kernel = facts.kernels.back().steps[0].step = fmt::format("k{}", i);
    facts.kernels.back().steps[0].entry = fmt::format("solstice_k{}", i);
  }
  const search::Tree tree = tree_of(facts);
  for (const agents::Feedback feedback : {agents::Feedback::kRaw, agents::Feedback::kTools}) {
    const std::string question = question_of(briefing_of(facts, feedback), tree);
    EXPECT_NE(question.find("```ucut\nprogram banks_transpose"), question.npos) << question.substr(0, 2000);
    if (feedback == agents::Feedback::kRaw) {
      EXPECT_NE(question.find("left out: too long for a prompt"), question.npos);
    }
  }
}

}  // namespace
}  // namespace solstice::flow
