// A run that another process takes up between being chosen and being claimed.
#include <gtest/gtest.h>

#include "base/file.h"
#include "flow/run/resolve.h"
#include "flow/run/resume.h"
#include "flow/run/state/engine.h"
#include "flow/run/state/resume_options.h"

namespace solstice::flow {
namespace {

class Claim : public ::testing::Test {
 protected:
  Claim() {
    options_.store = folder_.path();
    RunRecord run;
    run.options = kept_options(options_);
    options_.resume = *store().begin_run(run);
    finish("first");
  }
  store::Store store() { return std::move(store::Store::open(folder_.path())).value(); }
  RunRecord record() { return store().load_run(options_.resume)->run; }
  void finish(const char* reason) {
    EXPECT_TRUE(store().finish_run(options_.resume, RunState::kFinished, RunOutcome::kNotFaster, reason, Json()).ok());
  }
  // `meanwhile`: what another process does.
  template <typename Meanwhile>
  Status chosen_and_begun(Meanwhile meanwhile) {
    SilentProgress progress;
    Engine engine;
    SOLSTICE_TRY(ResolvedRun resolved, resolve_run(options_));
    flow::Run run(std::move(resolved.options), std::move(resolved.stored), progress, engine.parts());
    SOLSTICE_CHECK(open_leaders(run));
    meanwhile();
    return begin_run(run);
  }

  TempFolder folder_ = std::move(TempFolder::create("claim-test-")).value();
  OptimizeOptions options_;
};

TEST_F(Claim, ItGoesOn) {
  const Status begun = chosen_and_begun([] {});
  ASSERT_TRUE(begun.ok()) << begun.error().text();
  EXPECT_EQ(record().state, RunState::kRunning);
}

TEST_F(Claim, WhatWentOnMeanwhileIsLeftAsItIs) {
  const Status begun = chosen_and_begun([&] {
    ASSERT_TRUE(store().resume_run(options_.resume).ok());
    ASSERT_TRUE(store().add_event(options_.resume, 0, search::Event{}).ok());
    finish("second");
  });
  ASSERT_FALSE(begun.ok());
  EXPECT_EQ(begun.error().code, Code::bad_argument);
  EXPECT_NE(begun.error().hint.find("run the command again"), std::string::npos) << begun.error().message;
  EXPECT_EQ(record().state, RunState::kFinished);
  EXPECT_EQ(record().reason, "second");
}

TEST_F(Claim, WhatIsGoingOnIsNotTaken) {
  const Status begun = chosen_and_begun([&] { ASSERT_TRUE(store().resume_run(options_.resume).ok()); });
  ASSERT_FALSE(begun.ok());
  EXPECT_NE(begun.error().message.find("still active in another process"), std::string::npos) << begun.error().message;
}

}  // namespace
}  // namespace solstice::flow
