#include "flow/run/resume.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "flow/run/stages/search/restore.h"
#include "flow/run/state/engine.h"

namespace solstice::flow {
namespace {

// A run of the store that has trial 1, predicted for `machine`, and goes on.
class ResumedRun : public ::testing::Test {
 protected:
  void resume(const std::string& machine) {
    run_.stored.store.emplace(std::move(store::Store::open(folder_.path())).value());
    RunRecord run;
    run.problem = "softmax", run.machine = machine, run.device = "model";
    run_.report.run = *run_.stored.store->begin_run(run);
    search::Tree tree;
    tree.add({.program = "a", .origin = "expert"});
    search::Measurement predicted;
    predicted.state = TrialState::kPredicted;
    predicted.time = Seconds(2);
    tree.complete(1, predicted);
    for (size_t i = 0; i < tree.events().size(); ++i)
      ASSERT_TRUE(run_.stored.store->add_event(run_.report.run, i, tree.events()[i], nullptr).ok());
    run_.stored.resumed = *run_.stored.store->load_run(run_.report.run);
  }

  TempFolder folder_ = std::move(TempFolder::create("resumed-")).value();
  SilentProgress silent_;
  Engine engine_;
  flow::Run run_{OptimizeOptions(), silent_, engine_.parts()};
};

TEST_F(ResumedRun, AGpuTimesTheOriginalOfARunThatHadNone) {
  resume("h200");
  ASSERT_TRUE(restore_tree(run_, Seconds(5)).ok());
  EXPECT_EQ(run_.tree.original(), Seconds(5));
  run_.stored.resumed = *run_.stored.store->load_run(run_.report.run);  // once more: it is known
  run_.tree = search::Tree();
  ASSERT_TRUE(restore_tree(run_, Seconds(6)).ok());
  EXPECT_EQ(run_.tree.original(), Seconds(5));
  EXPECT_EQ(run_.tree.events().size(), 3u);
}

TEST_F(ResumedRun, WithoutAGpuTheOriginalStaysUnknown) {
  resume("h200");
  ASSERT_TRUE(restore_tree(run_, Seconds(0)).ok());
  EXPECT_EQ(run_.tree.events().size(), 2u);
}

TEST_F(ResumedRun, AnotherMachineIsNamedWithAWayOut) {
  resume("h100_sxm");
  Opened opened;
  opened.machine = std::move(machine::load_machine("h200")).value();
  const Status placed = check_place(run_, opened);
  ASSERT_FALSE(placed.ok());
  EXPECT_EQ(placed.error().message,
            "run " + run_.report.run +
                " was made for h100_sxm, this is h200: go on where that is, or, where this is one, with "
                "--machine h100_sxm");
}

}  // namespace
}  // namespace solstice::flow
