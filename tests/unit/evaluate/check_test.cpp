// What is found out about a candidate's text before any compiler runs.
#include <gtest/gtest.h>

#include <algorithm>

#include "evaluate/candidate.h"
#include "evaluate/meaning.h"
#include "evaluate/preparation.h"
#include "lang/parse.h"
#include "machine/machine.h"

namespace solstice::evaluate {
namespace {

const machine::Machine& h200() {
  static const machine::Machine machine = std::move(machine::load_machine("h200")).value();
  return machine;
}

constexpr const char* kProblem = R"(program scaled
dim M = 64, N = 128
input  x : f32[M, N]
output y : f32[M, N]
y[m,n] = 2 * x[m,n] + 1
)";

std::string candidate(const std::string& equation) {
  return "program scaled\ntarget h200\ndim M = 64, N = 128\ninput x : f32[M, N]\noutput y : f32[M, N]\n"
         "kernel k by map() {\n  " +
         equation + "\n}\n";
}

class MeaningTest : public ::testing::Test {
 protected:
  static lang::Program parsed(const std::string& text) {
    Diagnostics diagnostics;
    lang::Program tree = lang::parse(text, diagnostics);
    EXPECT_FALSE(diagnostics.has_errors());
    return tree;
  }
  Meaning meaning_{parsed(kProblem)};
};

TEST_F(MeaningTest, TheProblemsOwnEquationsAreProved) {
  EXPECT_EQ(meaning_.of(parsed(candidate("y[m,n] = 2 * x[m,n] + 1"))).verdict, ir::Verdict::kProved);
}

TEST_F(MeaningTest, OthersAreTestedAndWrongOnesRefuted) {
  EXPECT_EQ(meaning_.of(parsed(candidate("y[m,n] = x[m,n] + max(x[m,n], 0) + min(x[m,n], 0) + 1"))).verdict,
            ir::Verdict::kTested);
  const ir::Equivalence& wrong = meaning_.of(parsed(candidate("y[m,n] = 2 * x[m,n] - 1")));
  EXPECT_EQ(wrong.verdict, ir::Verdict::kRefuted);
  EXPECT_FALSE(wrong.reason.empty());
}

TEST_F(MeaningTest, ACandidateLoosensNothingThatTheProblemAsks) {
  const Setting setting{h200(), "reference", false, &meaning_};
  const std::string plain = candidate("y[m,n] = 2 * x[m,n] + 1");
  const auto codes = [](const std::string& text, const Setting& of) {
    std::string out;
    const Checked checked = check(text, of);
    for (const Diagnostic& d : checked.diagnostics.all()) out += d.code;
    return out;
  };
  EXPECT_EQ(codes(plain, setting), "");
  EXPECT_EQ(codes(plain + "allow nondeterministic\n", setting), "E016");
  EXPECT_EQ(codes(plain + "allow frozen, rng\n", setting), "E016");
  EXPECT_EQ(codes(plain + "allow frozen\n", setting), "");
  Meaning loose(parsed(std::string(kProblem) + "allow nondeterministic\n"));
  EXPECT_EQ(codes(plain + "allow nondeterministic\n", {h200(), "reference", false, &loose}), "");
  EXPECT_EQ(codes(plain + "allow nondeterministic\n", {h200(), "reference", false, nullptr}), "")
      << "a program by itself";
  Preparation refused(plain + "allow nondeterministic\n", setting, nullptr);
  EXPECT_EQ(refused.state(), TrialState::kIllegal);
}

TEST_F(MeaningTest, ARefutedCandidateReachesNoCompiler) {
  const Setting setting{h200(), "reference", false, &meaning_};
  Preparation wrong(candidate("y[m,n] = 2 * x[m,n] - 1"), setting, nullptr);
  ASSERT_TRUE(wrong.finish().ok());
  EXPECT_TRUE(wrong.refused());
  EXPECT_EQ(wrong.state(), TrialState::kWrong);
  EXPECT_EQ(wrong.why().rfind("it does not compute the problem", 0), 0u) << wrong.why();
  EXPECT_EQ(wrong.record().at("meaning").as_string(), "refuted");
  Preparation right(candidate("y[m,n] = 2 * x[m,n] + 1"), setting, nullptr);
  ASSERT_TRUE(right.finish().ok());
  EXPECT_FALSE(right.refused()) << right.why();
  EXPECT_EQ(right.record().at("meaning").as_string(), "proved");
}

TEST(Check, AKnobsMistakeUnderlinesTheKnob) {
  std::string text = candidate("y[m,n] = 2 * x[m,n] + 1");
  text.replace(text.find("map()"), 5, "map(unroll=2, threads=100000, bogus=3)");
  const auto underlined = [](const std::string& source) {
    std::vector<std::string> out;
    const Checked checked = check(source, {h200()});
    for (const Diagnostic& d : checked.diagnostics.all()) {
      out.push_back(source.substr(static_cast<size_t>(d.span.begin), static_cast<size_t>(d.span.end - d.span.begin)));
    }
    return out;
  };
  EXPECT_EQ(underlined(text), (std::vector<std::string>{"threads=100000", "bogus=3"}));
  text.replace(text.find("f32[M, N]"), 3, "f33");  // the schedule is checked beside other mistakes too
  const std::vector<std::string> all = underlined(text);
  ASSERT_GE(all.size(), 3u);
  EXPECT_EQ(all[all.size() - 2] + ", " + all.back(), "threads=100000, bogus=3");
}

// What is not compiled yet is checked all the same.
TEST(Check, ADeclaredFamilysRulesHold) {
  const std::string text = candidate("y[m,n] = 2 * x[m,n] + 1");
  std::string legal = text, wrong = text;
  legal.replace(text.find("map()"), 5, "conv(backend=cutlass, tile=128x128x32)");
  wrong.replace(text.find("map()"), 5, "conv(backend=cutlass, tile=100x128x32)");
  EXPECT_EQ(check(legal, {h200()}).diagnostics.size(), 0u);
  const Checked checked = check(wrong, {h200()});
  ASSERT_EQ(checked.diagnostics.size(), 1u);
  EXPECT_EQ(checked.diagnostics.all()[0].code, "E111");
}

// A knob without a value has no rules with others.
TEST(Check, AMistakenValueIsTheOnlyMistake) {
  const char* text =
      "program p\ndim M = 256, N = 256, K = 256\ninput x : f32[M, K]\ninput w : f32[N, K]\noutput y : f32[M, N]\n"
      "kernel a by gemm(math=fp16x9, tile=256x128x64) {\n  y[m,n] = sum[k](x[m,k] * w[n,k])\n}\n";
  const Checked checked = check(text, {h200()});
  ASSERT_EQ(checked.diagnostics.size(), 1u) << render_text(checked.diagnostics, text, "p.ucut");
  EXPECT_EQ(checked.diagnostics.all()[0].code, "E102");
}

TEST(Check, TenMistakesAreTenMessages) {
  const char* text = R"(program ten
dim M = 64, N = 64
input x : f33[M, N]
input a : f32[M, N]
input b : f32[M, Q]
output y : f32[M, N]
output z : f32[M, N]

kernel one by gemmm(tile=1x1x1) {
  y[m,n] = frobnicate(a[m,n])
}
kernel two by rows(bogus=3) {
  z[m,n] = a[m,n,n] + 1
  t[m,n] = a[m,] + 1
}
kernel three by map(vector=99) {
  u[m] = sum[k](a[m,k]
}
kernel three by map() {
  a[m,n] = 3
}
)";
  const Checked checked = check(text, {h200()});
  size_t errors = 0;
  for (const Diagnostic& d : checked.diagnostics.all()) errors += d.severity == Severity::kError;
  EXPECT_GE(errors, 10u) << render_text(checked.diagnostics, text, "ten.ucut");
  for (const char* wanted : {"f33", "Q", "gemmm", "frobnicate", "bogus", "three", "vector"}) {
    EXPECT_NE(render_text(checked.diagnostics, text, "ten.ucut").find(wanted), std::string::npos) << wanted;
  }
}

// Wrong dims and wrong grammar hide no mistake of a schedule, and the list is in the order of the text.
TEST(Check, MistakesOfEveryKindComeInTheOrderOfTheText) {
  const std::string text = R"(program ten
dim M = 1024, K = 0
dim N = foo
param w : f33[N, K] "linear.weight"
input x : f32[M, Q]
output y : f32[M]
output y : f32[M]
kernel up by gemmm(tile=12) {
  z[m,n] = sum[k](x[m,k] * w[n,k])
  y[m,n] = geluu(z[m])
  q[i = x[i]
}
kernel a by map(threads=3, bogus=1, threads=4) { }
@
)";
  const Checked checked = check(text, {h200()});
  std::vector<std::string> found;
  for (const Diagnostic& d : checked.diagnostics.all()) {
    const auto line = std::count(text.begin(), text.begin() + d.span.begin, '\n') + 1;
    found.push_back(std::to_string(line) + " " + d.code + " " + d.message.substr(0, 24));
  }
  const std::vector<std::string> wanted = {"2 E022 dim `K` is 0",
                                           "3 E008 unknown dim `foo`",
                                           "4 E000 expected a dtype, found ",
                                           "5 E008 unknown dim `Q`",
                                           "7 E008 `y` is declared twice",
                                           "8 E100 no kernel family `gemmm`",
                                           "10 E006 `y` has rank 1 but 2 ind",
                                           "10 E008 unknown function `geluu`",
                                           "10 E006 `z` has rank 2 but 1 ind",
                                           "11 E000 expected `]` after the l",
                                           "13 E102 `threads=3` is not a val",
                                           "13 E101 family `map` has no knob",
                                           "13 E022 knob `threads` is given ",
                                           "14 E000 `@` is not part of the l"};
  EXPECT_EQ(found, wanted) << render_text(checked.diagnostics, text, "ten.ucut");
}

}  // namespace
}  // namespace solstice::evaluate
