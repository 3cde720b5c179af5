// Two judges on the same GPU stand for two GPUs: what several find of a candidate is what one finds.
#include <set>

#include "evaluate/gpu_device.h"
#include "evaluate/gpu_fleet.h"
#include "fixture.h"
#include "support/worker_process.h"

namespace solstice::evaluate {
namespace {

constexpr int kTrials = 12;

// Every third is wrong, every fourth illegal.
std::string program_of(int trial) {
  const char* threads[] = {"128", "256", "512"};
  std::string out =
      "program scaled\ndim N = " + std::to_string(run::kElements) +
      "\nparam w : f32[N] \"w\"\ninput x : f32[N]\noutput y : f32[N]\n\nkernel k by map(threads=" + threads[trial % 3];
  out += std::string(", vector=") + (trial % 4 == 0 ? "3" : trial % 2 == 0 ? "4" : "2") + ") {\n";
  return out + "  y[n] = 2 * x[n] + w[n]" + (trial % 3 == 0 ? " + 0.001" : "") + "\n}\n";
}

class FleetOnGpuTest : public run::RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    if (IsSkipped()) return;
    auto machine = machine::load_machine("h200");
    ASSERT_TRUE(machine.ok()) << machine.error().text();
    machine_.emplace(std::move(*machine));
    toolchain::CompilerOptions options;
    options.arch = machine_->arch;
    auto compiler = toolchain::Compiler::create(options);
    ASSERT_TRUE(compiler.ok()) << compiler.error().text();
    compiler_ = std::move(*compiler);
    auto second = start_judge();
    ASSERT_TRUE(second.ok()) << second.error().text();
    second_ = std::move(*second);
    ASSERT_TRUE(judge_->adopt_thread().ok());
    auto folder = TempFolder::create("gpu-fleet");
    ASSERT_TRUE(folder.ok());
    trials_.emplace(std::move(*folder));
  }

  TrialBuilds builds(const char* name) const {
    return TrialBuilds({.machine = *machine_}, *compiler_, trials_->path() / name);
  }

  static std::map<int, search::Measurement> all_of(search::Evaluator& device) {
    std::map<int, search::Measurement> out;
    for (int trial = 1; trial <= kTrials; ++trial) {
      search::Node node;
      node.id = trial;
      node.proposal.program = program_of(trial);
      device.start(node);
    }
    for (int i = 0; i < kTrials; ++i) {
      Result<search::Landed> landed = device.land();
      EXPECT_TRUE(landed.ok()) << landed.error().text();
      if (!landed.ok()) break;
      out.emplace(landed->node, std::move(*landed->measurement));
    }
    return out;
  }

  // The judge that all tests share is not the fleet's to end.
  static std::shared_ptr<run::Judge> first() { return {std::shared_ptr<void>(), judge_.get()}; }

  std::optional<machine::Machine> machine_;
  std::unique_ptr<toolchain::Compiler> compiler_;
  std::shared_ptr<run::Judge> second_;
  std::optional<TempFolder> trials_;
};

TEST_F(FleetOnGpuTest, TwoJudgesSayWhatOneSays) {
  const TrialBuilds alone = builds("alone"), together = builds("together");
  GpuDevice device(alone, GpuMeter(alone, *judge_, cases_, {}));
  const std::map<int, search::Measurement> one = all_of(device);
  std::vector<LeftOut> left;
  const auto fleet = make_gpu_fleet(together, {{0, first()}, {1, second_}}, cases_, {{}, Bytes(1e6), this},
                                    [&](const LeftOut& each) { left.push_back(each); });
  ASSERT_TRUE(fleet->open().ok());
  ASSERT_EQ(fleet->size(), 2) << left.at(0).why.text();
  const std::map<int, search::Measurement> two = all_of(*fleet);
  fleet->end();
  EXPECT_TRUE(left.empty());
  ASSERT_EQ(one.size(), static_cast<size_t>(kTrials));
  ASSERT_EQ(two.size(), static_cast<size_t>(kTrials));
  std::set<int64_t> gpus;
  for (int trial = 1; trial <= kTrials; ++trial) {
    const search::Measurement &a = one.at(trial), &b = two.at(trial);
    const TrialState expected = trial % 4 == 0   ? TrialState::kIllegal
                                : trial % 3 == 0 ? TrialState::kWrong
                                                 : TrialState::kVerified;
    EXPECT_EQ(a.state, expected) << a.detail;
    EXPECT_EQ(b.state, a.state) << trial << ": " << b.detail;
    EXPECT_EQ(b.detail, a.detail);
    EXPECT_EQ(b.record.at("verdict").at("policy").dump(), a.record.at("verdict").at("policy").dump());
    EXPECT_EQ(a.record.find("gpu"), nullptr);
    if (b.state != TrialState::kIllegal) gpus.insert(b.record.at("gpu").as_int(-1));
    if (a.usable()) {
      EXPECT_GT(b.time.value, 0);
      std::printf("trial %d: %.2f us alone, %.2f us on %s\n", trial, a.time.value * 1e6, b.time.value * 1e6,
                  b.record.at("gpu").as_int() == 0 ? "the first" : "the second");
    }
  }
  EXPECT_EQ(gpus, (std::set<int64_t>{0, 1}));
  // The first judge is this thread's again.
  EXPECT_EQ(verify(plan_of("honest")).outcome, Outcome::kPassed);
}

TEST_F(FleetOnGpuTest, CopiesAreTheSameAndShareWhatWasShared) {
  const auto copies = run::CaseCopies::make(cases_, *judge_, *second_, Bytes(0));
  ASSERT_TRUE(copies.ok()) << copies.error().text();
  const std::vector<run::DeviceTensor> before = run::tensors_of(cases_), after = run::tensors_of(copies->cases());
  EXPECT_EQ(before.size(), 7u);  // w, and of two cases x, the exact result and PyTorch's
  EXPECT_EQ(after.size(), before.size());
  EXPECT_EQ(copies->cases()[0].given.at("w").address, copies->cases()[1].given.at("w").address);
  for (size_t i = 0; i < cases_.size(); ++i) {
    const run::DeviceTensor &a = cases_[i].given.at("x"), &b = copies->cases()[i].given.at("x");
    EXPECT_NE(a.address, b.address);
    const auto found = judge_->kernels().differ(a.address, b.address, a.bytes);
    ASSERT_TRUE(found.ok()) << found.error().text();
    EXPECT_EQ(found->bytes, 0);
  }
  const auto none = run::CaseCopies::make(cases_, *judge_, *second_, Bytes(1e15));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Code::too_large);
}

}  // namespace
}  // namespace solstice::evaluate
