// Results of a batch that is evaluated once more: which stand, and which are measured again.
#include "flow/batch/standing.h"

#include <gtest/gtest.h>

namespace solstice::flow {
namespace {

class BatchStandingTest : public ::testing::Test {
 protected:
  void SetUp() override { batch_.id = "run-3"; }

  void keep_result(TrialState state, const std::string& batch = "run-3") {
    BatchResult result{batch, 1, 2, "hash", {}, "now"};
    result.measurement.state = state;
    result.measurement.time = Seconds(1);
    ASSERT_TRUE(write_record_file(result_file(folder_.path(), 1), result).ok());
  }

  void keep_original(bool predicted, double time, const std::string& batch = "run-3") {
    BatchOriginal original;
    original.batch = batch, original.time = Seconds(time), original.predicted = predicted, original.device = "a device";
    ASSERT_TRUE(write_record_file(original_file(folder_.path()), original).ok());
  }

  bool result_stands(bool predicting) {
    return standing_result(folder_.path(), batch_, {1, 2, "hash", "", {}}, predicting, predictions_).has_value();
  }
  bool original_stands(bool predicting) { return standing_original(folder_.path(), batch_, predicting).has_value(); }

  TempFolder folder_ = std::move(TempFolder::create("standing-")).value();
  Batch batch_;
  int predictions_ = 0;
};

TEST_F(BatchStandingTest, APredictionIsNoMeasurement) {
  keep_result(TrialState::kPredicted);
  EXPECT_TRUE(result_stands(true));
  EXPECT_FALSE(result_stands(false));
  EXPECT_EQ(predictions_, 2);
  keep_result(TrialState::kVerified);
  EXPECT_TRUE(result_stands(true));
  EXPECT_TRUE(result_stands(false));
  EXPECT_EQ(predictions_, 2);
  keep_original(true, 0);
  EXPECT_TRUE(original_stands(true));
  EXPECT_FALSE(original_stands(false));
  keep_original(false, 1);
  EXPECT_TRUE(original_stands(true));
  EXPECT_TRUE(original_stands(false));
}

TEST_F(BatchStandingTest, WhatIsMissingDamagedOrForeignNeverStands) {
  EXPECT_FALSE(result_stands(true));
  EXPECT_FALSE(original_stands(true));
  ASSERT_TRUE(write_file(result_file(folder_.path(), 1), "{").ok());
  ASSERT_TRUE(write_file(original_file(folder_.path()), "{").ok());
  EXPECT_FALSE(result_stands(true));
  EXPECT_FALSE(original_stands(true));
  keep_result(TrialState::kVerified, "run-2");
  keep_original(false, 1, "run-2");
  EXPECT_FALSE(result_stands(true));
  EXPECT_FALSE(original_stands(false));
  keep_original(false, 0);  // it has no time
  EXPECT_FALSE(original_stands(false));
}

}  // namespace
}  // namespace solstice::flow
