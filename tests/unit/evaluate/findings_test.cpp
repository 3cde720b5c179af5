#include <gtest/gtest.h>

#include "diagnose/counters/counter_table.h"
#include "evaluate/findings/actions.h"
#include "evaluate/findings/diagnosing.h"
#include "evaluate/findings/program_facts.h"
#include "evaluate/preparation.h"

namespace solstice::evaluate {
namespace {

constexpr const char* kTwoMaps = R"(program p
dim N = 4096
input x : f32[N]
output y : f32[N]
tensor h : f32[N]
kernel a by map() {
  h[n] = exp(x[n])
}
kernel b by map() {
  y[n] = h[n] * h[n]
}
)";

const machine::Machine& machine_of_findings() {
  static const machine::Machine machine = machine::load_machine("h200").value();
  return machine;
}

// Other kernels and other equations are no change of a clause: that what they name is there is what can be checked.
TEST(Findings, ACutIsAMoveWhereItsKernelsAre) {
  const Setting setting{machine_of_findings()};
  Moves moves(kTwoMaps, setting);
  FindingAction cut{ActionKind::kCut, "one kernel", "a", {}, "", "b"};
  EXPECT_TRUE(moves.is_legal(cut));
  cut.with = "";
  EXPECT_TRUE(moves.is_legal(cut)) << "taken apart";
  cut.with = "c";
  EXPECT_FALSE(moves.is_legal(cut));
  FindingAction rewrite{ActionKind::kRewrite, "other equations", "", {}, "fold_scalars"};
  EXPECT_TRUE(moves.is_legal(rewrite));
  rewrite.rewrite = "no_such_rewrite";
  EXPECT_FALSE(moves.is_legal(rewrite));
}

// In a thread of its own it says what it says in this one.
TEST(Findings, ADiagnosisBesideTheSearchSaysTheSame) {
  const Setting setting{machine_of_findings()};
  const Preparation candidate(kTwoMaps, setting, nullptr);
  Facts facts = candidate.facts(setting, nullptr);
  set_source({"sass", false, "nvdisasm was not found", "install it"}, facts);
  Json expected = Json::object(), found = Json::object();
  add_findings(facts, setting, {.keep_facts = true}, expected);
  Diagnosing diagnosing(facts, {}, setting, {.keep_facts = true}, Seconds(0.25));
  while (!diagnosing.done(Seconds(1))) continue;
  const DiagnosisTime took = diagnosing.finish(Seconds(0.5), found);
  EXPECT_EQ(took.facts.value, 0.25);
  EXPECT_GE(took.waited.value, 0.5);
  EXPECT_EQ(found.at("diagnosing").at("facts").as_double(), 0.25);
  for (const auto& [key, value] : expected.members()) EXPECT_EQ(found.at(key).dump(), value.dump()) << key;
  EXPECT_EQ(expected.at("classes").size(), 3u) << "of two kernels and of the program";
  EXPECT_EQ(Diagnosing().finish(Seconds(0), found).total().value, 0) << "nothing to diagnose";
}

Step launch_in(const std::string& module) {
  Step out;
  out.name = out.entry = out.module = module;
  return out;
}

// A cubin that cannot be read leaves its own kernels open.
TEST(Findings, MachineCodeOfOneModuleMayBeMissing) {
  Plan plan;
  plan.modules = {{"a", "a.cubin", "", ""}, {"b", "b.cubin", "", ""}};
  plan.steps = {launch_in("a"), launch_in("b")};
  Facts facts;
  for (const char* name : {"a", "b"}) {
    KernelSheet kernel{.kernel = name, .family = "map", .schedule = "map()"};
    kernel.steps.push_back({.step = name, .entry = name});
    facts.kernels.push_back(kernel);
  }
  const std::map<std::string, SassFacts> code = {{"a", SassFacts{}}};
  const Error damaged = fail(Code::process_failed, "nvdisasm: not a cubin", "another nvdisasm");
  take_sass(plan, {{code}, {damaged}}, facts);
  ASSERT_EQ(facts.sources.size(), 1u);
  EXPECT_TRUE(facts.sources[0].there);
  EXPECT_EQ(facts.sources[0].why, "nvdisasm: not a cubin");
  EXPECT_EQ(facts.sources[0].opens, "another nvdisasm");
  EXPECT_EQ(facts.sources[0].missing, (std::map<std::string, std::string>{{"b", "nvdisasm: not a cubin"}}));
  EXPECT_TRUE(facts.kernels[0].steps[0].sass);
  EXPECT_FALSE(facts.kernels[1].steps[0].sass);
  take_sass(plan, {{damaged}, {damaged}}, facts);
  EXPECT_FALSE(facts.sources[0].there);
  EXPECT_EQ(facts.sources[0].why, "nvdisasm: not a cubin") << "once";
}

// What the published ablation shows: every counter by its name, as it is.
TEST(Findings, CountersThatWereReadAreInTheRecord) {
  const Setting setting{machine_of_findings()};
  Facts facts;
  facts.program = kTwoMaps;
  facts.machine = "h200";
  KernelSheet kernel{.kernel = "a", .family = "map", .schedule = "map()"};
  kernel.steps.push_back({.step = "a", .entry = "a"});
  facts.kernels.push_back(kernel);
  Json without = Json::object();
  add_findings(facts, setting, {}, without);
  EXPECT_EQ(without.find("counters"), nullptr);
  EXPECT_EQ(without.at("classes").size(), 2u) << "of the kernel and of the program";
  CounterFacts counters;
  for (const std::string& metric : diagnose::counter_metrics()) counters.metrics[metric] = 1.5;
  counters.metrics["new__metric.sum"] = 2;
  counters.stalls["long_scoreboard"] = 0.5;
  facts.kernels[0].steps[0].counters = counters;
  Json with = Json::object();
  add_findings(facts, setting, {}, with);
  const Json& step = with.at("counters").items().at(0);
  EXPECT_EQ(step.at("step").as_string(), "a");
  EXPECT_GE(step.at("counters").size(), 40u);
  EXPECT_EQ(step.at("counters").at("DRAM bytes read (byte)").as_double(), 1.5);
  EXPECT_EQ(step.at("counters").at("new__metric.sum").as_double(), 2) << "without a name of ours";
  EXPECT_EQ(step.at("counters").at("warp stall long_scoreboard (share)").as_double(), 0.5);
  counters.of = "a";
  facts.kernels[0].steps.push_back({.step = "b", .entry = "a", .counters = counters});
  Json twice = Json::object();
  add_findings(facts, setting, {}, twice);
  EXPECT_EQ(twice.at("counters").items().at(1).dump(), R"({"step":"b","alike":"a"})") << "not all of them again";
}

}  // namespace
}  // namespace solstice::evaluate
