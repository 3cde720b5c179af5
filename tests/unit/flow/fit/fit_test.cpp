#include "flow/fit/fit.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/paths.h"
#include "flow/fit/cases.h"

namespace solstice::flow {
namespace {

class FitTest : public ::testing::Test {
 protected:
  // A table beside one program, the row sums and squares of x.
  std::filesystem::path table(const std::string& lines) {
    EXPECT_TRUE(write_file(folder_.path() / "sums.ucut", R"(program sums
dim M = 8, N = 16
input x : f32[M, N]
output s : f32[M]
output q : f32[M]
s[m] = sum[n](x[m,n])
q[m] = sum[n](x[m,n] * x[m,n])
)")
                    .ok());
    EXPECT_TRUE(write_file(folder_.path() / "cases.txt", lines).ok());
    return folder_.path() / "cases.txt";
  }

  std::vector<KernelTime> programs(const std::string& line, int proposals) {
    const auto cases = read_fit_cases(table(line + "\n"), {});
    EXPECT_TRUE(cases.ok()) << cases.error().text();
    const auto machine = machine::load_machine("h200");
    auto out = programs_of(cases->front(), *machine, proposals);
    EXPECT_TRUE(out.ok()) << out.error().text();
    return out.ok() ? std::move(out).value() : std::vector<KernelTime>{};
  }

  TempFolder folder_ = std::move(TempFolder::create("fit-test-")).value();
};

TEST_F(FitTest, ATableNamesProblems) {
  const auto cases =
      read_fit_cases(table("# rows\nsums M=4096 N=1024\n\nsums M=64 dtype=bf16 numerics=high cut=all\n"), {});
  ASSERT_TRUE(cases.ok()) << cases.error().text();
  ASSERT_EQ(cases->size(), 2u);
  EXPECT_EQ(cases->at(0).problem, "sums M=4096 N=1024");
  EXPECT_EQ(cases->at(1).problem, "sums M=64 dtype=bf16 numerics=high");
  EXPECT_TRUE(cases->at(1).all_cuts);
  EXPECT_EQ(read_fit_cases(folder_.path() / "cases.txt", {"bf16"})->size(), 1u);
}

TEST_F(FitTest, MistakesInATableAreNamed) {
  const auto wrong = read_fit_cases(table("sums M=4\nsums dtype=f33\n"), {});
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message.find("cases.txt:2: `dtype=f33` is not one of"), std::string::npos)
      << wrong.error().message;
  const auto dim = read_fit_cases(table("sums Q=4\n"), {});
  ASSERT_TRUE(dim.ok());
  const auto none = programs_of(dim->front(), *machine::load_machine("h200"), 1);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message, "`sums Q=4`: sums.ucut has no dim `Q`");
}

TEST_F(FitTest, ProgramsAreScheduledAndSized) {
  const auto found = programs("sums M=4096 N=1024 dtype=bf16 cut=all", 3);
  ASSERT_EQ(found.size(), 4u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(found[static_cast<size_t>(i)].cut, Cut::kPlanned);
    EXPECT_NE(found[static_cast<size_t>(i)].program.find("x : bf16[M, N]"), std::string::npos);
    EXPECT_NE(found[static_cast<size_t>(i)].program.find("M = 4096, N = 1024"), std::string::npos);
  }
  EXPECT_EQ(found.back().cut, Cut::kEach);
  EXPECT_GT(found.back().predicted, found.front().predicted);
}

TEST_F(FitTest, RatiosAndChoices) {
  std::vector<KernelTime> times = programs("sums M=4096 N=1024", 3);
  ASSERT_EQ(times.size(), 3u);
  times[0].measured = times[0].predicted * 2;  // the models' choice takes twice as long as they say
  times[1].measured = times[0].measured / 1.5;
  times[2].measured = times[0].measured;
  const auto fit = judge_models(times);
  ASSERT_TRUE(fit.ok()) << fit.error().text();
  ASSERT_EQ(fit->points.size(), 3u);
  EXPECT_NEAR(fit->points[0].ratio(), 0.5, 1e-9);
  int kernels = 0;
  for (const FitRatios& ratios : fit->ratios) {
    kernels += ratios.form.empty() ? ratios.count : 0;
    EXPECT_LE(ratios.low, ratios.middle);
    EXPECT_LE(ratios.middle, ratios.high);
  }
  EXPECT_EQ(kernels, 3);
  ASSERT_EQ(fit->choices.size(), 1u);
  EXPECT_EQ(fit->choices[0].problems, 1);
  EXPECT_EQ(fit->choices[0].near, 0);
  EXPECT_NEAR(fit->choices[0].loss, 0.5, 1e-9);
}

TEST_F(FitTest, CutsCompete) {
  std::vector<KernelTime> times = programs("sums M=4096 N=1024 cut=all", 1);
  ASSERT_EQ(times.size(), 2u);
  times[0].measured = Seconds(2e-5);
  times[1].measured = Seconds(1e-5);  // two kernels are faster, against what is predicted
  const auto fit = judge_models(times);
  ASSERT_TRUE(fit.ok()) << fit.error().text();
  ASSERT_EQ(fit->choices.size(), 1u);
  EXPECT_EQ(fit->choices[0].family, "cuts");
  EXPECT_NEAR(fit->choices[0].worst, 1.0, 1e-9);
}

TEST_F(FitTest, WhatThisBuildCannotReadIsLeftOutAloud) {
  std::vector<KernelTime> times = programs("sums M=64", 1);
  times[0].measured = Seconds(1e-5);
  times.push_back(times[0]);
  times[1].program = "program p\ninput x : f32[4]\noutput y : f32[4]\nkernel k by map(speed=9) {\n  y[i] = x[j]\n}\n";
  const auto fit = judge_models(times);
  ASSERT_TRUE(fit.ok());
  EXPECT_EQ(fit->points.size(), 1u);
  ASSERT_EQ(fit->dropped.size(), 1u);
  EXPECT_NE(fit->dropped[0].find("sums M=64: "), std::string::npos);
}

TEST_F(FitTest, LinesAreReadStrictly) {
  const auto times = programs("sums M=64", 1);
  const auto file = folder_.path() / "times.jsonl";
  ASSERT_TRUE(write_file(file, to_json(times[0]).dump() + "\n" + to_json(times[0]).dump() + "\n").ok());
  EXPECT_EQ(read_kernel_times(file)->size(), 2u);
  ASSERT_TRUE(append_line(file, "{}").ok());
  const auto broken = read_kernel_times(file);
  ASSERT_FALSE(broken.ok());
  EXPECT_NE(broken.error().text().find("times.jsonl:3"), std::string::npos) << broken.error().text();
}

// What comes with Solstice: every case has a program, and every program its dims.
TEST_F(FitTest, TheShippedTableIsWhole) {
  const auto folder = data_folder("bench/families");
  ASSERT_TRUE(folder.ok());
  const auto cases = read_fit_cases(*folder / "cases.txt", {});
  ASSERT_TRUE(cases.ok()) << cases.error().text();
  EXPECT_GT(cases->size(), 100u);
  for (const FitCase& one : *cases) EXPECT_TRUE(std::filesystem::exists(one.file)) << one.problem;
}

}  // namespace
}  // namespace solstice::flow
