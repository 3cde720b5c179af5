// Facts that a program cannot have written are refused, with the place.
#include "record/diagnosis/facts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "record/diagnosis/finding.h"

namespace solstice {
namespace {

StepFacts launch() {
  StepFacts out;
  out.step = "up";
  out.grid = {132, 1, 1};
  out.block = {256, 1, 1};
  out.registers = 64;
  out.sass = SassFacts{};
  out.sass->loops.resize(2);
  out.sass->loops[1].parent = 0;
  return out;
}

Facts sound() {
  Facts out;
  out.machine = "h200";
  out.measured = Seconds(1e-3);
  KernelSheet kernel;
  kernel.kernel = "up";
  kernel.bound = Seconds(0);
  kernel.needs = {{"dram", "", "B", 4e9, Seconds(1e-3)}};
  kernel.steps = {launch()};
  out.kernels = {kernel};
  return out;
}

struct Damage {
  const char* says;
  void (*spoil)(Facts&);
};

StepFacts& first_step(Facts& facts) { return facts.kernels[0].steps[0]; }

const Damage kDamages[] = {
    {"`.measured` is nan", [](Facts& f) { f.measured = Seconds(std::numeric_limits<double>::quiet_NaN()); }},
    {"`.kernels[0].bound` is -1", [](Facts& f) { f.kernels[0].bound = Seconds(-1); }},
    {"`.kernels[0].needs[0].amount` is inf", [](Facts& f) { f.kernels[0].needs[0].amount = 1 / 0.0; }},
    {"`.kernels[0].steps[0].registers` is -5", [](Facts& f) { first_step(f).registers = -5; }},
    {"registers` is 4611686018427387904", [](Facts& f) { first_step(f).registers = int64_t{1} << 62; }},
    {"`grid` is 0 x 1 x 1",
     [](Facts& f) {
       first_step(f).grid = {0, 1, 1};
     }},
    {"`grid` is",
     [](Facts& f) {
       first_step(f).grid = {1LL << 31, 1LL << 31, 1};
     }},
    {"`block` is 2048 x 1 x 1",
     [](Facts& f) {
       first_step(f).block = {2048, 1, 1};
     }},
    {"`cluster` is",
     [](Facts& f) {
       first_step(f).cluster = {1, 0, 1};
     }},
    {"loop 1 lies in loop 1", [](Facts& f) { first_step(f).sass->loops[1].parent = 1; }},
    {".counters.metrics.dram is nan",
     [](Facts& f) {
       first_step(f).counters = CounterFacts{{{"dram", std::nan("")}}, {}};
     }},
};

TEST(Facts, WhoseNumbersMakeNoSenseAreRefused) {
  EXPECT_TRUE(validate(sound()).ok());
  for (const Damage& damage : kDamages) {
    Facts facts = sound();
    damage.spoil(facts);
    const Result<Facts> read = read_facts(*parse_json(to_json(facts).dump()));
    ASSERT_FALSE(read.ok()) << damage.says;
    EXPECT_EQ(read.error().code, Code::bad_record);
    std::string message = read.error().message;
    if (std::string(damage.says).find('`') == std::string::npos) std::erase(message, '`');
    EXPECT_NE(message.find(damage.says), std::string::npos) << message;
  }
}

TEST(Findings, WithoutEvidenceOrWithABoundBelowOneAreRefused) {
  Finding finding;
  finding.cause = "it spills";
  finding.evidence = {{"bytes", 8, "B", "ptxas"}};
  const auto of_record = [&] {
    return findings_of_record(Json::object().set("findings", Json::array().push(to_json(finding))));
  };
  EXPECT_TRUE(of_record().ok());
  finding.gain.program = 0.5;
  EXPECT_NE(of_record().error().message.find("a bound of 0.5"), std::string::npos);
  finding.gain.program = std::nan("");
  EXPECT_FALSE(of_record().ok());
  finding.gain.program = 1;
  finding.evidence[0].value = 1 / 0.0;
  EXPECT_NE(of_record().error().message.find("evidence `bytes` of inf"), std::string::npos);
  finding.evidence.clear();
  EXPECT_FALSE(of_record().ok());
}

}  // namespace
}  // namespace solstice
