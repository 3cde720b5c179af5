// Trials that are compiled for real, on a GPU that only pretends: beside the search a diagnosis says what it says in
// its turn, and the GPU goes on meanwhile.
#include "evaluate/findings/diagnosing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/clock.h"
#include "evaluate/trial_builds.h"
#include "search/overlapped.h"
#include "support/worker_process.h"

namespace solstice::evaluate {
namespace {

constexpr int kCandidates = 6;

class PretendedGpu : public search::Overlapped {
 public:
  PretendedGpu(const TrialBuilds& builds, Seconds takes) : builds_(builds), takes_(takes) {}
  Seconds waited;

 protected:
  void begin(const search::Node& node) override { begun_.emplace(node.id, builds_.begin(node)); }
  bool ready(int node) override { return begun_.at(node).candidate.ready(Seconds(0)); }
  Result<search::Measurement> measure(int node) override {
    BegunTrial& trial = begun_.at(node);
    SOLSTICE_CHECK(trial.candidate.finish());
    std::this_thread::sleep_for(std::chrono::duration<double>(takes_.value));
    search::Measurement out;
    out.state = TrialState::kVerified;
    Facts facts = trial.candidate.facts(builds_.setting(), nullptr);
    facts.measured = microseconds(node);
    trial.diagnosis = Diagnosing(std::move(facts), {&*trial.candidate.built()}, builds_.setting(), {}, Seconds(0));
    return out;
  }
  bool concluded(int node, Seconds patience) override { return begun_.at(node).diagnosis.done(patience); }
  void conclude(int node, Seconds seconds, search::Measurement& out) override {
    begun_.at(node).conclude(seconds, out);
    waited += Seconds(out.record.at("diagnosing").at("waited").as_double());
    begun_.erase(node);
  }

 private:
  const TrialBuilds& builds_;
  Seconds takes_;
  std::map<int, BegunTrial> begun_;
};

search::Node candidate(int number) {
  search::Node out;
  out.id = number;
  out.proposal.program = fmt::format(
      "program p\ndim N = 4194304\ninput x : f32[N]\noutput y : f32[N]\nkernel k by map(vector={}, unroll={}) {{\n"
      "  y[n] = exp(x[n]) / x[n]\n}}\n",
      1 << number % 3, 1 << number / 3);
  return out;
}

// In their order, `ahead` in flight.
std::vector<search::Measurement> measured(PretendedGpu& gpu, int ahead) {
  std::vector<search::Measurement> out;
  int started = 0;
  while (static_cast<int>(out.size()) < kCandidates) {
    while (started < kCandidates && started - static_cast<int>(out.size()) < ahead) gpu.start(candidate(started++));
    Result<search::Landed> landed = gpu.land();
    EXPECT_TRUE(landed.ok()) << landed.error().text();
    if (!landed.ok()) return out;
    EXPECT_EQ(landed->node, static_cast<int>(out.size()));
    out.push_back(std::move(*landed->measurement));
  }
  return out;
}

TEST(Diagnosing, BesideOthersTrialsItSaysTheSame) {
  const machine::Machine h200 = machine::load_machine("h200").value();
  toolchain::CompilerOptions options;
  options.arch = h200.arch;
  const auto compiler = toolchain::Compiler::create(options);
  if (!compiler.ok()) GTEST_SKIP() << compiler.error().text();
  const TrialBuilds builds(Setting{h200}, **compiler, "");
  PretendedGpu beside(builds, Seconds(0.1)), in_turn(builds, Seconds(0));
  const Seconds began = monotonic_now();
  const std::vector<search::Measurement> found = measured(beside, 6);
  const Seconds took = monotonic_now() - began;
  const std::vector<search::Measurement> expected = measured(in_turn, 1);
  ASSERT_EQ(found.size(), expected.size());
  Seconds diagnosis;
  for (size_t i = 0; i < found.size(); ++i) {
    for (const char* part : {"findings", "classes"})
      EXPECT_EQ(found[i].record.at(part).dump(), expected[i].record.at(part).dump()) << i;
    EXPECT_EQ(found[i].record.at("classes").size(), 2u) << "of the kernel and of the program";
    diagnosis += from_json<DiagnosisTime>(found[i].record.at("diagnosing"))->total();
  }
  fmt::print("{} trials in {:.2f} s: diagnosis took {:.2f} s beside them, and was waited for {:.3f} s\n", found.size(),
             took.value, diagnosis.value, beside.waited.value);
}

}  // namespace
}  // namespace solstice::evaluate
