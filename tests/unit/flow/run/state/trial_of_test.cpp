#include "flow/run/state/trial_of.h"

#include <gtest/gtest.h>

#include "flow/run/run_program.h"

namespace solstice::flow {
namespace {

TEST(TrialOf, SaysWhichOfSeveralGpusMeasuredIt) {
  search::Node node;
  node.id = 3;
  node.measurement.emplace();
  node.measurement->record = Json::object().set("measuring", 0.25);
  EXPECT_FALSE(trial_of("run", node, true).gpu.has_value());
  node.measurement->record.set("gpu", 2);
  const TrialRecord trial = trial_of("run", node, true);
  EXPECT_EQ(trial.gpu, 2);
  const Result<TrialRecord> read = from_json<TrialRecord>(*parse_json(to_json(trial).dump()));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->gpu, 2);
}

TEST(SameAsModule, SaysHowFarItIsKnown) {
  search::Measurement of;
  EXPECT_EQ(same_as_module(of), "");
  of.record = Json::object().set("meaning", "proved");
  EXPECT_EQ(same_as_module(of), "its equations are the module's: proved");
  of.record.set("meaning", "unknown");
  EXPECT_EQ(same_as_module(of), "it is not known whether its equations are the module's");
}

}  // namespace
}  // namespace solstice::flow
