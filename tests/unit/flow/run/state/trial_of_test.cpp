#include "flow/run/state/trial_of.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace solstice::flow
