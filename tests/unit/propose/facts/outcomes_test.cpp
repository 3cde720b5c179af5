// What became of the findings of a search.
#include "propose/facts/outcomes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "record/diagnosis/finding.h"
#include "record/verdict.h"
#include "search/tool_sums.h"

namespace solstice::propose {
namespace {

constexpr const char* kHead = R"(program p
dim M = 1024, N = 4096
input x : f32[M, N]
output y : f32[M, N]

)";

std::string in_two(const std::string& knobs) {
  return std::string(kHead) + "tensor h : f32[M, N]\n\nkernel a by map" + knobs +
         " {\n  h[m,n] = exp(x[m,n])\n}\nkernel b by map {\n  y[m,n] = h[m,n] * h[m,n]\n}\n";
}

std::string in_one() {
  return std::string(kHead) + "kernel ab by map {\n  h[m,n] = exp(x[m,n])\n  y[m,n] = h[m,n] * h[m,n]\n}\n";
}

Finding advises(const std::string& tool, const FindingAction& action) {
  Finding out;
  out.tool = tool;
  out.place.kernel = action.kernel;
  out.cause = "so";
  out.evidence = {{"quantity", 1, "", "plan"}};
  out.actions = {action};
  out.gain = {2, 2, "so"};
  return out;
}

const std::vector<Finding> kFindings = {
    advises("narrow loads", {ActionKind::kKnobs, "vectors", "a", {{"unroll", "4"}}, ""}),
    advises("intermediate traffic", {ActionKind::kCut, "one kernel", "a", {}, "", "b"}),
    advises("words", {ActionKind::kText, "think", "a", {}, ""})};

search::Measurement result(double seconds, TrialState state = TrialState::kVerified, bool findings = false) {
  search::Measurement out{.state = state, .time = Seconds(seconds), .record = Json::object()};
  Json all = Json::array();
  for (const Finding& finding : kFindings) all.push(to_json(finding));
  if (findings) out.record.set("findings", all).set("classes", Json::object().set("", "dram").set("a", "sfu"));
  return out;
}

int grown(search::Tree& tree, int parent, const std::string& program, const search::Measurement& m) {
  search::Proposal proposal;
  proposal.program = program;
  proposal.parent = parent;
  const int id = tree.add(proposal)->id;
  tree.complete(id, m);
  return id;
}

TEST(Outcomes, AreOfTheTrialsThatHaveTheMove) {
  search::Tree tree;
  const int first = grown(tree, 0, in_two("(unroll=1)"), result(10, TrialState::kVerified, true));
  const int other = grown(tree, first, in_two("(unroll=2)"), result(9));
  const int vectors = grown(tree, first, in_two("(unroll=4)"), result(10.01));
  const int fused = grown(tree, first, in_one(), result(6));
  grown(tree, other, in_two("(unroll=4, threads=128)"), result(5));
  const std::vector<FindingOutcome> found = outcomes_of(tree);
  ASSERT_EQ(found.size(), 3u) << "those of one trial";
  EXPECT_EQ(found[0].tool, "narrow loads");
  EXPECT_EQ(found[0].limited, "sfu");
  EXPECT_EQ(found[0].node, first);
  EXPECT_EQ(found[0].bound, 2);
  ASSERT_EQ(found[0].acted.size(), 1u) << "a trial that was derived from another acts on the other's findings";
  EXPECT_EQ(found[0].acted[0].node, vectors);
  EXPECT_FALSE(found[0].acted[0].hit);
  ASSERT_EQ(found[1].acted.size(), 1u);
  EXPECT_EQ(found[1].acted[0].node, fused);
  EXPECT_TRUE(found[1].acted[0].hit);
  EXPECT_NEAR(found[1].acted[0].gain, std::log2(10.0 / 6), 1e-9);
  EXPECT_TRUE(found[2].acted.empty()) << "words are no move";
}

TEST(Outcomes, AFailureIsOneAndWhatSaysNothingIsNone) {
  search::Tree tree;
  const int first = grown(tree, 0, in_two("(unroll=1)"), result(10, TrialState::kVerified, true));
  grown(tree, first, in_two("(unroll=4)"), result(0, TrialState::kWrong));
  search::Measurement crowded = result(0, TrialState::kCrashed);
  Verdict verdict;
  verdict.outcome = Outcome::kOutOfMemory;
  crowded.record.set("verdict", to_json(verdict));
  grown(tree, first, in_two("(unroll=4, threads=128)"), crowded);
  grown(tree, first, "no program", result(8));
  grown(tree, 0, in_two("(unroll=8)"), result(10, TrialState::kPredicted, true));
  const std::vector<FindingOutcome> found = outcomes_of(tree);
  ASSERT_EQ(found.size(), 3u) << "none of a trial whose time was predicted";
  ASSERT_EQ(found[0].acted.size(), 1u);
  EXPECT_EQ(found[0].acted[0].state, TrialState::kWrong);
  EXPECT_FALSE(found[0].acted[0].hit);
}

TEST(Outcomes, ToolsAreBelievedByTheirHits) {
  Fact hit, miss;
  hit.gain = 0.5;
  hit.advised = {{"narrow loads", 2}};
  miss.gain = 0.001;
  miss.advised = {{"narrow loads", 2}, {"loop barriers", 1.2}};
  Fact failed = miss;
  failed.state = TrialState::kWrong;
  const search::ToolWeights weights = search::tool_weights({hit, miss, failed, Fact{}});
  EXPECT_EQ(weights.size(), 2u);
  EXPECT_DOUBLE_EQ(weights.at("narrow loads"), 2.0 / 4);
  EXPECT_DOUBLE_EQ(weights.at("loop barriers"), 1.0 / 3);
}

}  // namespace
}  // namespace solstice::propose
