#include "sol/sol.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "ir/bind.h"
#include "support/golden.h"

namespace solstice::sol {
namespace {

machine::Machine load(const std::string& name) {
  return machine::load_machine(std::string(SOLSTICE_SOURCE_DIR) + "/machines/" + name + ".toml").value();
}

ir::Program parse(const std::string& text) {
  Diagnostics diagnostics;
  Result<ir::Program> program = ir::load_program(text, "test.ucut", diagnostics);
  EXPECT_TRUE(program.ok()) << (program.ok() ? "" : program.error().text());
  return program.ok() ? std::move(program).value() : ir::Program{};
}

ir::Program golden_program(const std::string& name) {
  return parse(read_file(std::string(SOLSTICE_SOURCE_DIR) + "/tests/golden/sol/" + name + ".ucut").value());
}

SolReport report_of(const ir::Program& program, const SolOptions& options = {}) {
  const Result<SolReport> report = analyse(program, load("h200"), options);
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text());
  return report.ok() ? *report : SolReport{};
}

class SolGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(SolGolden, TextReport) {
  const std::string name = GetParam();
  solstice::testing::expect_golden("sol/" + name + ".txt", render_text(report_of(golden_program(name))));
}

INSTANTIATE_TEST_SUITE_P(Programs, SolGolden,
                         ::testing::Values("linear_gelu", "softmax", "batch_norm_conv", "attention", "rnn"),
                         [](const auto& param) { return std::string(param.param); });

TEST(SolReport, IsARecord) {
  const SolReport report = report_of(golden_program("linear_gelu"));
  const Result<SolReport> again = from_json<SolReport>(parse_json(to_json(report).dump()).value());
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(render_text(report), render_text(*again));
  EXPECT_EQ(to_bounds(report).size(), 3U);
}

TEST(Io, CountsInputsAndWhatOutputsExceedL2) {
  const double l2 = load("h200").l2.value;
  // 64 MiB in and out: all of the input, and 4 MiB of the output.
  const SolReport report =
      report_of(parse("program p\ndim N = 16777216\ninput x : f32[N]\noutput y : f32[N]\ny[n] = x[n] + 1.0\n"));
  const double bytes = 16777216.0 * 4;
  EXPECT_DOUBLE_EQ(report.io.time.value, (bytes + bytes - l2) / 4.8e12);
  EXPECT_DOUBLE_EQ(report.io_warm.value, bytes / load("h200").l2_rate().value);
  EXPECT_EQ(report.io.limited_by, "dram");
}

TEST(Io, SmallProblemsAreBoundByL2Alone) {
  const SolReport report = report_of(parse("program p\ndim N = 1024\noutput y : f32[N]\ny[n] = 1.0 + 0.0 * n\n"));
  EXPECT_EQ(report.io.limited_by, "sm to l2");
  EXPECT_DOUBLE_EQ(report.io.time.value, 4096 / load("h200").l2_rate().value);
}

TEST(Io, FrozenWeightsAreNotCounted) {
  const ir::Program program = golden_program("linear_gelu");
  SolOptions options;
  options.frozen = true;
  const SolReport live = report_of(program);
  const SolReport frozen = report_of(program, options);
  EXPECT_NEAR((live.io.time - frozen.io.time).value, (8192.0 * 8192 + 8192) * 4 / 4.8e12, 1e-12);
  EXPECT_EQ(frozen.weights, "frozen");
}

// A kernel may hold it as its formula.
TEST(Io, BuffersOfAnAssumedFormNeedNotBeRead) {
  const std::string head = "program p\ndim N = 1024\nbuffer m : f32[N, N] \"m\"\ninput x : f32[N]\noutput y : f32[N]\n";
  const std::string body = "y[i] = sum[j](m[i,j] * x[j])\n";
  const double with = report_of(parse(head + body)).io.time.value;
  const double without = report_of(parse(head + "assume m[i,j] = j <= i\n" + body)).io.time.value;
  EXPECT_LT(without, with / 100);
}

TEST(Io, TiedWeightsCountOnce) {
  const char* shapes = "program p\ndim V = 1000, D = 64, N = 8\nparam w : f32[V,D] \"w\"\n";
  const char* body =
      "input x : f32[N,D]\noutput y : f32[N,V]\noutput z : f32[N,V]\n"
      "y[n,v] = sum[d](x[n,d] * w[v,d])\nz[n,v] = sum[d](x[n,d] * u[v,d])\n";
  const SolReport tied = report_of(parse(std::string(shapes) + "param u : f32[V,D] \"u\" same w\n" + body));
  const SolReport apart = report_of(parse(std::string(shapes) + "param u : f32[V,D] \"u\"\n" + body));
  EXPECT_NEAR((apart.io.time - tied.io.time).value, 1000 * 64 * 4 / 4.8e12, 1e-15);
}

TEST(Pipes, EveryMathHasOne) {
  for (const numerics::MathInfo& each : numerics::all_maths()) {
    const auto pipe = machine::pipe_from_name(numerics::pipe_name(each.math));
    ASSERT_TRUE(pipe.has_value()) << each.name;
  }
  EXPECT_EQ(machine::pipe_from_name(numerics::pipe_name(numerics::Math::kTF32x3)), machine::Pipe::kTensorTF32);
  EXPECT_EQ(machine::pipe_from_name(numerics::pipe_name(numerics::Math::kSimt)), machine::Pipe::kSimtF32);
}

TEST(Violations, AreTimesBelowIo) {
  const SolReport report = report_of(golden_program("softmax"));
  EXPECT_EQ(violation(report, report.io.time), "");
  EXPECT_EQ(violation(report, report.practical.time), "");
  EXPECT_EQ(violation(report, report.io.time * 0.999, Cache::kWarm), "");
  EXPECT_NE(violation(report, report.io_warm * 0.999, Cache::kWarm).find(" with inputs in L2: the kernels"),
            std::string::npos);
  SolReport five;
  five.io.time = microseconds(5);
  EXPECT_EQ(violation(five, microseconds(3.25)),
            "3.25 us is below the io bound of 5 us: the kernels cannot have done the work");
}

TEST(Work, FollowsThePolicy) {
  const ir::Program program = golden_program("linear_gelu");
  const auto math_of = [&](numerics::Policy policy) {
    SolOptions options;
    options.policy = policy;
    const SolReport report = report_of(program, options);
    const auto is_tensor = [](const SolTerm& term) { return term.resource.rfind("tensor", 0) == 0; };
    const auto found = std::find_if(report.work.terms.begin(), report.work.terms.end(), is_tensor);
    return found == report.work.terms.end() ? "" : found->what;
  };
  EXPECT_EQ(math_of(numerics::Policy::kReference), "fp16x3");
  EXPECT_EQ(math_of(numerics::Policy::kHigh), "fp16");
  SolOptions tf32;
  tf32.matmul_tf32 = true;
  EXPECT_LT(report_of(program, tf32).work.time, report_of(program).work.time);
}

TEST(Work, AFormatTheMachineLacksIsAnError) {
  machine::Machine machine = load("h200");
  machine.pipes.erase(machine::Pipe::kTensorBF16);
  machine.measured.pipes.erase(machine::Pipe::kTensorBF16);
  const Result<SolReport> report = analyse(golden_program("attention"), machine);
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().message.find("has no tensor.bf16 pipe"), std::string::npos);
}

TEST(Bounds, IoAndWorkStayBelowPractical) {
  for (const char* name : {"linear_gelu", "softmax", "batch_norm_conv", "attention", "rnn"}) {
    const SolReport report = report_of(golden_program(name));
    EXPECT_LE(report.io.time, report.practical.time) << name;
    EXPECT_LE(report.work.time, report.practical.time) << name;
    EXPECT_LE(report.io_warm, report.io.time) << name;
  }
}

TEST(Bounds, ALaunchIsTheLargestPartOfLittleWork) {
  const SolReport report = report_of(parse("program p\ninput x : f32[64]\noutput y : f32[64]\ny[i] = 2*x[i]\n"));
  const auto largest = std::max_element(report.practical.terms.begin(), report.practical.terms.end(),
                                        [](const SolTerm& a, const SolTerm& b) { return a.time < b.time; });
  ASSERT_NE(largest, report.practical.terms.end());
  EXPECT_EQ(largest->what, "launch");
  EXPECT_EQ(report.kernels[0].limited_by, "launch");
}

// What was measured on an H200 lies above the bounds (docs/sol.md names the runs).
TEST(Bounds, LieBelowWhatWasMeasured) {
  const auto product = [](int m, int n, int k) {
    return report_of(
        parse(fmt::format("program p\ndim M = {}, N = {}, K = {}\nparam w : f32[N,K] \"w\"\n"
                          "input x : f32[M,K]\noutput y : f32[M,N]\ny[m,n] = sum[k](x[m,k] * w[n,k])\n",
                          m, n, k)));
  };
  EXPECT_LT(product(4096, 4096, 4096).bound(), milliseconds(0.513));
  EXPECT_LT(product(1024, 8192, 8192).bound(), milliseconds(0.508));
  EXPECT_LT(product(16384, 4096, 4096).bound(), milliseconds(2.081));
  // The estimate is within a tenth of the measured product.
  EXPECT_NEAR(product(4096, 4096, 4096).practical.time.value, 0.513e-3, 0.05e-3);
}

TEST(Sol, PracticalCountsWhatAGatherLooksUp) {
  const auto analysed = [](int64_t lookups) {
    Diagnostics diagnostics;
    const std::string text = "program g\ndim R = 4000000, D = 64, L = " + std::to_string(lookups) +
                             "\nparam table : f32[R,D] \"t\"\ninput ids : i64[L]\noutput y : f32[L,D]\n"
                             "y[l,d] = table[ids[l],d]\n";
    const Result<ir::Program> program = ir::load_program(text, "test.ucut", diagnostics);
    EXPECT_TRUE(program.ok());
    return *analyse(*program, machine::load_machine(std::string(SOLSTICE_SOURCE_DIR) + "/machines/h200.toml").value());
  };
  const double row = 64 * 4, lookups = 1000000;
  const SolReport report = analysed(1000000);
  EXPECT_DOUBLE_EQ(report.kernels.at(0).dram.value, lookups * (2 * row + 8));
  EXPECT_LT(report.io.terms.at(0).amount + report.io.terms.at(1).amount, lookups * 9);  // one slice, and the indices
  EXPECT_LT(analysed(1000).practical.time, report.practical.time);
}

}  // namespace
}  // namespace solstice::sol
