// Diagnosis of everything that is recorded: the order of tools does not show, no tool breaks a rule, a program of
// hundreds of kernels takes no longer than its kernels.
#include "unit/diagnose/recorded.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "base/clock.h"
#include "diagnose/diagnose.h"

namespace solstice::diagnose {
namespace {

using testing::Recorded;
using testing::recorded_facts;

const machine::Machine& machine_of(const Facts& facts) {
  static std::map<std::string, machine::Machine> machines;
  const auto found = machines.find(facts.machine);
  return found != machines.end() ? found->second
                                 : machines.emplace(facts.machine, *machine::load_machine(facts.machine)).first->second;
}

// All that a diagnosis says, as text.
std::string text_of(const Diagnosis& diagnosis) {
  std::string out = enum_name(diagnosis.program.of());
  for (const auto& [kernel, of] : diagnosis.kernels) out += "\n" + kernel + ": " + enum_name(of.of()) + of.conflict;
  for (const Finding& finding : diagnosis.findings) out += "\n" + to_json(finding).dump();
  for (const OpenQuestion& open : diagnosis.open) out += "\n" + open.tool + open.question + open.source + open.why;
  for (const std::string& fault : diagnosis.faults) out += "\n" + fault;
  return out;
}

TEST(RecordedFacts, AreDiagnosedTheSameInAnyOrderOfTools) {
  ASSERT_GT(recorded_facts().size(), 30u);
  std::mt19937 random(7);
  for (const Recorded& one : recorded_facts()) {
    for (const std::vector<std::string>& without : {std::vector<std::string>{}, {"counters"}, {"trace", "sass"}}) {
      DiagnoseOptions options;
      options.legal = [](const FindingAction& action) { return action.kind != ActionKind::kMath; };
      options.without = without;
      options.tools = all_tools();
      const std::string first = text_of(diagnose(one.facts, machine_of(one.facts), options));
      std::reverse(options.tools.begin(), options.tools.end());
      for (int i = 0; i < 8; ++i, std::shuffle(options.tools.begin(), options.tools.end(), random))
        ASSERT_EQ(text_of(diagnose(one.facts, machine_of(one.facts), options)), first) << one.name;
    }
  }
}

TEST(RecordedFacts, AreDiagnosedWithoutAFault) {
  for (const Recorded& one : recorded_facts()) {
    const Diagnosis found = diagnose(one.facts, machine_of(one.facts));
    EXPECT_TRUE(found.faults.empty()) << one.name << ": " << found.faults[0];
  }
}

// Two findings that differ in what they rest on alone have an order of their own.
TEST(RecordedFacts, FindingsThatDifferInTheirEvidenceAloneHaveAnOrder) {
  const auto add = [](const Tool& tool, double value, std::vector<Finding>& out) {
    out.push_back(finding_on(tool, fmt::format("cause {}", value > 2), {1.5, 1, "because"}));
    out.back().evidence = {evidence("value", value, "", "plan")};
  };
  static const auto both = add;
  static const Tool rising{.name = "same",
                           .question = "?",
                           .sources = {"plan"},
                           .classes = {},
                           .of_program = [](const Tool& tool, const ProgramView&, std::vector<Finding>& out) {
                             both(tool, 1, out);
                             both(tool, 2, out);
                           }};
  static const Tool falling{.name = "same",
                            .question = "?",
                            .sources = {"plan"},
                            .classes = {},
                            .of_program = [](const Tool& tool, const ProgramView&, std::vector<Finding>& out) {
                              both(tool, 2, out);
                              both(tool, 1, out);
                            }};
  const Facts& facts = recorded_facts()[0].facts;
  DiagnoseOptions options;
  options.tools = {&rising};
  const std::string first = text_of(diagnose(facts, machine_of(facts), options));
  options.tools = {&falling};
  EXPECT_EQ(text_of(diagnose(facts, machine_of(facts), options)), first);
}

// The same kernels many times over, each under a name of its own.
Facts repeated(const Facts& facts, size_t count) {
  Facts out = facts;
  out.kernels.clear();
  for (size_t i = 0; i < count; ++i) {
    KernelSheet kernel = facts.kernels[i % facts.kernels.size()];
    kernel.kernel += std::to_string(i);
    for (StepFacts& step : kernel.steps) {
      step.step += std::to_string(i);
      step.entry += std::to_string(i);
    }
    out.kernels.push_back(std::move(kernel));
  }
  return out;
}

TEST(RecordedFacts, AProgramOfFiveHundredKernelsIsDiagnosed) {
  for (const char* name : {"spill_tile.sick.counters.json", "gemm_simt.healthy.counters.json", "everything.json"}) {
    const auto one = std::find_if(recorded_facts().begin(), recorded_facts().end(),
                                  [&](const Recorded& each) { return each.name == name; });
    if (one == recorded_facts().end()) continue;
    const Facts facts = repeated(one->facts, 500);
    const Seconds begin = monotonic_now();
    const Diagnosis found = diagnose(facts, machine_of(facts));
    EXPECT_LT((monotonic_now() - begin).value, 10) << name;  // 0.1 s without sanitizers
    EXPECT_TRUE(found.faults.empty()) << name << ": " << found.faults[0];
    EXPECT_GT(found.findings.size(), 200u) << name;
  }
}

}  // namespace
}  // namespace solstice::diagnose
