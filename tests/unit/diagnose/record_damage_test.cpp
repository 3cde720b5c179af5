// Facts with a number, a member or an item changed are refused, or diagnosed with findings that can be shown.
// SOLSTICE_FACTS_MUTATIONS=1000000 for more of them than in the usual run; SOLSTICE_RANDOM_SEED for others.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "base/clock.h"
#include "diagnose/diagnose.h"
#include "fuzz/mutate_json.h"
#include "unit/diagnose/recorded.h"

namespace solstice::diagnose {
namespace {

int setting(const char* variable, int otherwise) {
  const char* value = std::getenv(variable);
  return value ? std::atoi(value) : otherwise;
}

void expect_sound(const Diagnosis& diagnosis) {
  for (const Finding& finding : diagnosis.findings) {
    const auto back = from_json<Finding>(*parse_json(to_json(finding).dump()));
    ASSERT_TRUE(back.ok()) << back.error().text();
    ASSERT_TRUE(validate(*back).ok()) << validate(*back).error().text();
  }
}

TEST(RecordFuzz, ChangedFactsAreRefusedOrDiagnosed) {
  const int runs = setting("SOLSTICE_FACTS_MUTATIONS", 1000);
  std::mt19937 random(static_cast<unsigned>(setting("SOLSTICE_RANDOM_SEED", 1)));
  const machine::Machine machine = *machine::load_machine("h200");
  const std::vector<testing::Recorded>& all = testing::recorded_facts();
  int diagnosed = 0, refused = 0;
  double longest = 0;
  for (int i = 0; i < runs; ++i) {
    Json json = all[static_cast<size_t>(i) % all.size()].json;
    for (int changes = 1 + i % 4; changes > 0; --changes) json = fuzz::mutated(json, random);
    const Result<Facts> facts = read_facts(json);
    if (!facts.ok()) {
      EXPECT_EQ(facts.error().code, Code::bad_record);
      ++refused;
      continue;
    }
    ++diagnosed;
    const Seconds begin = monotonic_now();
    ASSERT_NO_FATAL_FAILURE(expect_sound(diagnose(*facts, machine))) << "run " << i;
    longest = std::max(longest, (monotonic_now() - begin).value);
  }
  EXPECT_GT(diagnosed, runs / 4);
  EXPECT_GT(refused, runs / 50);
  EXPECT_LT(longest, 2);  // under sanitizers on a busy machine
}

TEST(RecordFuzz, ChangedFindingsAreRefusedOrRead) {
  const int runs = setting("SOLSTICE_FACTS_MUTATIONS", 1000);
  std::mt19937 random(static_cast<unsigned>(setting("SOLSTICE_RANDOM_SEED", 2)));
  const testing::Recorded& one = testing::recorded_facts()[0];
  Json findings = Json::array();
  for (const Finding& finding : diagnose(one.facts, *machine::load_machine(one.facts.machine)).findings)
    findings.push(to_json(finding));
  const Json record = Json::object().set("findings", findings);
  int read = 0;
  for (int i = 0; i < runs; ++i) {
    const auto found = findings_of_record(fuzz::mutated(record, random));
    if (!found.ok()) {
      EXPECT_EQ(found.error().code, Code::bad_record);
      continue;
    }
    ++read;
    for (const Finding& finding : *found) ASSERT_TRUE(validate(finding).ok());
  }
  EXPECT_GT(read, runs / 10);
}

}  // namespace
}  // namespace solstice::diagnose
