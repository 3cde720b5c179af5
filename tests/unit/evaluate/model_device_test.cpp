#include "evaluate/model_device.h"

#include <gtest/gtest.h>

#include "record/diagnosis/diagnosis_time.h"

namespace solstice::evaluate {
namespace {

// A search whose time is up, or that Ctrl-C ends, has its trial in hand at once: predicted, and said to be no more.
TEST(ModelDevice, PredictsWithoutCodeOnceItIsToStop) {
  const machine::Machine h200 = machine::load_machine("h200").value();
  search::Node node;
  node.id = 1;
  node.proposal.program =
      "program p\ndim N = 4096\ninput x : f32[N]\noutput y : f32[N]\nkernel k by map() {\n  y[n] = x[n] + 1\n}\n";
  bool stop = false;
  Setting setting{h200};
  setting.stop = [&] { return stop; };
  ModelDevice device(setting, nullptr);
  for (const bool stopped : {false, true}) {
    stop = stopped;
    device.start(node);
    const Result<search::Landed> landed = device.land();
    ASSERT_TRUE(landed.ok() && landed->measurement);
    EXPECT_EQ(landed->measurement->state, TrialState::kPredicted);
    EXPECT_GT(landed->measurement->time.value, 0);
    EXPECT_EQ(landed->measurement->detail, stopped ? "not compiled: the time was up" : "");
    EXPECT_EQ(landed->measurement->record.find("facts") == nullptr, stopped);
    const auto took = from_json<DiagnosisTime>(landed->measurement->record.at("diagnosing"));
    ASSERT_TRUE(took.ok()) << took.error().text();
    EXPECT_GT(took->tools.value, 0);
    EXPECT_GE(landed->measurement->cost, took->total());
  }
}

// Works on what it is given for ever.
class EndlessCompiler : public toolchain::Compiler {
 public:
  std::shared_future<Result<toolchain::Compiled>> submit(toolchain::CompileRequest) override {
    return promise_.get_future().share();
  }
  const toolchain::Toolchain& toolchain() const override { return toolchain_; }
  Result<SandboxReport> sandbox() override { return SandboxReport(); }
  int compiles() const override { return 0; }
  int hits() const override { return 0; }

 private:
  std::promise<Result<toolchain::Compiled>> promise_;
  toolchain::Toolchain toolchain_;
};

// Nobody knows that it compiles: it is no candidate that a report could name as its best.
TEST(ModelDevice, ACandidateThatTheCompilerDoesNotFinishIsNoneThatWorks) {
  const machine::Machine h200 = machine::load_machine("h200").value();
  search::Node node;
  node.id = 1;
  node.proposal.program =
      "program p\ndim N = 4096\ninput x : f32[N]\noutput y : f32[N]\nkernel k by map() {\n  y[n] = x[n] + 1\n}\n";
  int looks = 0;
  Setting setting{h200};
  setting.stop = [&] { return ++looks > 20; };
  EndlessCompiler compiler;
  ModelDevice device(setting, &compiler);
  device.start(node);
  const Result<search::Landed> landed = device.land();
  ASSERT_TRUE(landed.ok() && landed->measurement);
  EXPECT_EQ(landed->measurement->state, TrialState::kNotCompiled);
  EXPECT_EQ(landed->measurement->detail, "not compiled: the time was up");
  EXPECT_FALSE(landed->measurement->usable());
}

}  // namespace
}  // namespace solstice::evaluate
