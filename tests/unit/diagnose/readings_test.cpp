// Sources that were read in part: questions that stay open for some launches, evidence that says whose it is.
#include "diagnose/readings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include "base/file.h"
#include "diagnose/counters/counter_table.h"
#include "diagnose/diagnose.h"

namespace solstice::diagnose {
namespace {

const char* const kRead = "dram__bytes_read.sum";
const char* const kWritten = "dram__bytes_write.sum";

// Two kernels of one launch each, of 4 ms, that need 4 GB and move twice as much.
Facts two_kernels() {
  Facts out;
  out.machine = "h200";
  out.measured = Seconds(8e-3);
  for (const char* name : {"a", "b"}) {
    KernelSheet kernel{.kernel = name, .family = "map", .schedule = "map()"};
    kernel.needs = {{"dram", "", "B", 4e9, Seconds(1e-3)}};
    kernel.tensors = {{"x", "input", "f32", false, Bytes(2e9)}, {"y", "output", "f32", true, Bytes(2e9)}};
    kernel.bound = Seconds(1e-3);
    kernel.measured = Seconds(4e-3);
    StepFacts step;
    step.step = name;
    step.entry = std::string("solstice_") + name;
    step.grid = {132 * 8, 1, 1};
    step.measured = Seconds(4e-3);
    step.counters = CounterFacts{{{kRead, 6e9}, {kWritten, 2e9}}, {{"selected", 1}}};
    kernel.steps = {step};
    out.kernels.push_back(kernel);
  }
  for (const char* name : {"plan", "trace", "counters"}) out.sources.push_back({name, true});
  return out;
}

Diagnosis diagnosis_of(const Facts& facts) { return diagnose(facts, *machine::load_machine("h200")); }

const OpenQuestion* open_of(const Diagnosis& found, const std::string& tool) {
  for (const OpenQuestion& open : found.open) {
    if (open.tool == tool && !open.steps.empty()) return &open;
  }
  return nullptr;
}

const Finding* finding_of(const Diagnosis& found, const std::string& tool, const std::string& kernel) {
  for (const Finding& finding : found.findings) {
    if (finding.tool == tool && finding.place.kernel == kernel) return &finding;
  }
  return nullptr;
}

TEST(Readings, AValueThatIsMissingForOneLaunchIsAnOpenQuestionForIt) {
  Facts facts = two_kernels();
  facts.kernels[1].steps[0].counters->metrics.erase(kWritten);
  const Diagnosis found = diagnosis_of(facts);
  ASSERT_TRUE(finding_of(found, "reads again", "a"));
  EXPECT_FALSE(finding_of(found, "reads again", "b"));
  const OpenQuestion* open = open_of(found, "reads again");
  ASSERT_TRUE(open);
  EXPECT_EQ(open->steps, std::vector<std::string>{"b"});
  EXPECT_EQ(open->source, "counters");
  EXPECT_EQ(open->why, "no value of dram__bytes_write.sum");
}

TEST(Readings, OfALaunchThatWasLeftOutSayWhy) {
  Facts facts = two_kernels();
  facts.kernels[0].steps[0].counters.reset();
  facts.kernels[1].steps[0].counters.reset();
  facts.sources[2].missing = {{"a", "no time was left"}, {"b", "no time was left"}};
  facts.sources[2].opens = "a longer time";
  const Diagnosis found = diagnosis_of(facts);
  for (const char* tool : {"reads again", "warp stall", "divergence"}) {
    const OpenQuestion* open = open_of(found, tool);
    ASSERT_TRUE(open) << tool;
    EXPECT_EQ(open->steps, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(open->why, "no time was left");
    EXPECT_EQ(open->opens, "a longer time");
  }
  EXPECT_FALSE(open_of(found, "lowered clocks")) << "it has other clocks to go by";
}

TEST(Readings, OfAKernelOfTwoLaunchesAreAllOrNone) {
  Facts facts = two_kernels();
  facts.kernels[0].steps[0].step = "a-first";  // no step is the kernel's main one
  StepFacts second = facts.kernels[0].steps[0];
  second.step = "a-second";
  second.counters.reset();
  facts.kernels[0].steps.push_back(second);
  EXPECT_FALSE(finding_of(diagnosis_of(facts), "reads again", "a")) << "half of its bytes bound nothing";
  facts.kernels[0].steps[1].entry.clear();  // a memset
  EXPECT_TRUE(finding_of(diagnosis_of(facts), "reads again", "a"));
}

TEST(Readings, MachineCodeThatIsMissingIsSoForItsKernelsAlone) {
  Facts facts = two_kernels();
  facts.sources.push_back({"sass", true, "", "", {{"b", "nvdisasm failed"}}});
  facts.kernels[0].steps[0].sass = SassFacts{};
  const Diagnosis found = diagnosis_of(facts);
  const OpenQuestion* open = open_of(found, "slow division");
  ASSERT_TRUE(open);
  EXPECT_EQ(open->steps, std::vector<std::string>{"b"});
  EXPECT_EQ(open->why, "nvdisasm failed");
}

TEST(Readings, EvidenceSaysWhichLaunchWasReadAndHow) {
  Facts facts = two_kernels();
  facts.kernels[1].steps[0].counters->of = "a";
  facts.kernels[1].steps[0].counters->cold = true;
  facts.kernels[1].steps[0].counters->metrics[kRead] = 7e9;  // else they are one finding
  const Diagnosis found = diagnosis_of(facts);
  const Finding* own = finding_of(found, "reads again", "a");
  const Finding* other = finding_of(found, "reads again", "b");
  ASSERT_TRUE(own && other);
  EXPECT_EQ(own->evidence[0].source, "counters");
  EXPECT_EQ(own->confidence, Confidence::kHigh);
  EXPECT_EQ(other->evidence[0].source, "counters of `a`, a launch alike, caches empty before it");
  EXPECT_EQ(other->evidence[1].source, "plan");
  EXPECT_EQ(other->confidence, Confidence::kMedium);
}

TEST(Readings, OfWhatDoesNotPassL2AreAsGoodWithEmptyCaches) {
  Facts facts = two_kernels();
  facts.kernels[1].steps[0].counters->cold = true;
  facts.kernels[1].steps[0].counters->metrics["smsp__thread_inst_executed_per_inst_executed.ratio"] = 8;
  const Diagnosis found = diagnosis_of(facts);
  const Finding* divergence = finding_of(found, "divergence", "b");
  ASSERT_TRUE(divergence);
  EXPECT_EQ(divergence->evidence[0].source, "counters");
}

// What a tool's text names is what it says that it reads, and ncu is asked for it.
TEST(ToolCounters, AreDeclaredReadAndInTheTable) {
  const std::regex metric("\"([a-z0-9]+__[A-Za-z0-9_.]+)\""), name("\\.name = \"([^\"]+)\"");
  size_t tools = 0;
  const auto folder = std::filesystem::path(SOLSTICE_SOURCE_DIR) / "src/diagnose/tools";
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (file.path().extension() != ".cpp") continue;
    const std::string text = *read_file(file.path());
    const std::string code = text.substr(0, text.find("extern const Tool"));
    std::set<std::string> read, declared;
    for (std::sregex_iterator it(code.begin(), code.end(), metric), end; it != end; ++it) read.insert((*it)[1]);
    std::smatch named;
    ASSERT_TRUE(std::regex_search(text, named, name)) << file.path();
    for (const Tool* tool : all_tools()) {
      if (tool->name != named[1]) continue;
      declared.insert(tool->counters.begin(), tool->counters.end());
      declared.insert(tool->or_counters.begin(), tool->or_counters.end());
      ++tools;
    }
    EXPECT_EQ(read, declared) << file.path();
    for (const std::string& each : declared) EXPECT_TRUE(find_counter(each)) << each;
  }
  EXPECT_EQ(tools, all_tools().size());
}

TEST(ToolCounters, AreWhatNcuIsAskedFor) {
  const std::vector<std::string> asked = counters_to_ask(all_tools());
  for (const Tool* tool : all_tools()) {
    for (const auto* metrics : {&tool->counters, &tool->or_counters}) {
      for (const std::string& metric : *metrics) EXPECT_TRUE(is_among(asked, metric)) << metric;
    }
  }
  for (const std::string& metric : class_metrics()) EXPECT_TRUE(is_among(asked, metric)) << metric;
  EXPECT_LT(asked.size(), counter_metrics().size() / 2) << "of " << counter_metrics().size();
  EXPECT_GE(counter_metrics().size(), 40u) << "the raw arm shows all of the table";
  EXPECT_TRUE(std::all_of(asked.begin(), asked.end(), [](const std::string& each) { return find_counter(each); }));
  Tool elsewhere = *all_tools()[0];
  elsewhere.elsewhere = [](const Facts&) -> Result<std::vector<Finding>> { return std::vector<Finding>(); };
  EXPECT_EQ(counters_to_ask({&elsewhere}), counter_metrics()) << "it may read any";
}

}  // namespace
}  // namespace solstice::diagnose
