// Declarations, draws and opaque operations, which a candidate may not change.
#include <gtest/gtest.h>

#include "unit/ir/equivalence/asked.h"

namespace solstice::ir {
namespace {

// Each a way to change the question instead of answering it.
TEST(Interface, NothingMayBeChanged) {
  const std::string head =
      "dim M = 64, N = 32\nparam w : f32[N] \"a.w\"\nparam v : f32[N] \"a.v\"\nbuffer s : f32[N] \"a.s\"\nbuffer u : "
      "f32[N] \"a.u\"\ninput x : f32[M, N]\n"
      "random r : bool[M, N] from bernoulli(0.5)\noutput y : f32[M, N]\ntensor s1 : f32[N] into s\n";
  const std::string rest = "s1[n] = s[n] + w[n] * u[n]\ny[m,n] = select(r[m,n], x[m,n] * v[n], 0)";
  const std::string problem = head + rest;
  EXPECT_EQ(asked(problem, problem).verdict, Verdict::kProved);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string out = problem;
    const size_t at = out.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return out.replace(at, from.size(), to);
  };
  for (const std::string& cheat : {
           with("param w : f32[N] \"a.w\"\nparam v : f32[N] \"a.v\"",
                "param w : f32[N] \"a.v\"\nparam v : f32[N] \"a.w\""),
           with("param w", "buffer w"),
           with("bernoulli(0.5)", "bernoulli(0.9)"),
           with("output y : f32[M, N]", "output y : f16[M, N]"),
           with("M = 64", "M = 63"),
           with("tensor s1 : f32[N] into s", "tensor s1 : f32[N]"),
           with("input x : f32[M, N]", "input x : f32[M, N]\ninput z : f32[M]"),
           with("output y : f32[M, N]", "output y : f32[M, N] strides(1, M)"),
           with("tensor s1 : f32[N] into s", "tensor s1 : f32[N] into s\nassume u[n] = 0"),
           with("random r", "random q : bool[M, N] from bernoulli(0.5)\nrandom r"),
       }) {
    const Equivalence e = asked(problem, cheat);
    EXPECT_EQ(e.verdict, Verdict::kRefuted) << cheat << ": " << e.reason;
    EXPECT_TRUE(e.counterexamples.empty()) << "refuted by its declarations: " << e.reason;
  }
}

TEST(Interface, OpaqueOperationsAreTheProblemsWithTheirArguments) {
  const std::string head = "dim M = 64\ninput x : f32[M]\noutput y : f32[M]\ntensor t : f32[M]\n";
  const std::string call = "opaque v : f32[M], i : i64[M] = \"aten.sort.default\"(t, dim=0)\n";
  const std::string with_half = "dim M = 64\ninput x : f32[M]\noutput y : f32[M]\ntensor t : f16[M]\n";
  const std::string problem = head + "t[m] = x[m] * 2\n" + call + "y[m] = v[m] + x[m]";
  EXPECT_EQ(asked(problem, problem).verdict, Verdict::kProved);
  EXPECT_EQ(asked(problem, head + "t[m] = x[m] + max(x[m], 0) + min(x[m], 0)\n" + call + "y[m] = x[m] + v[m]").verdict,
            Verdict::kTested);
  for (const std::string& cheat : {
           head + "t[m] = x[m] * 3\n" + call + "y[m] = v[m] + x[m]",
           head +
               "t[m] = x[m] * 2\nopaque v : f32[M], i : i64[M] = \"aten.sort.default\"(t, dim=1)\ny[m] = v[m] + x[m]",
           head +
               "t[m] = x[m] * 2\nopaque v : f32[M], i : i64[M] = \"aten.sort.default\"(x, dim=0)\ny[m] = v[m] + x[m]",
           head +
               "t[m] = x[m] * 2\nopaque v : f32[M], i : i64[M] = \"aten.topk.default\"(t, dim=0)\ny[m] = v[m] + x[m]",
           head + "t[m] = x[m] * 2\ny[m] = t[m] + x[m]",
           with_half + "t[m] = x[m] * 2\n" + call + "y[m] = v[m] + x[m]",
       }) {
    const Equivalence e = asked(problem, cheat);
    EXPECT_EQ(e.verdict, Verdict::kRefuted) << cheat << ": " << e.reason;
  }
}

TEST(Interface, InputsAndOutputsComeInTheProblemsOrder) {
  const std::string a = "input a : f32[M]\n", b = "input b : f32[M]\n", p = "param p : f32[M] \"l.p\"\n",
                    q = "buffer q : f32[M] \"l.q\"\n", y = "output y : f32[M]\n", z = "output z : f32[M]\n",
                    rest = "y[m] = a[m]*p[m] + q[m]\nz[m] = b[m]*p[m]";
  const auto verdict = [&](const std::string& order) {
    return asked("dim M = 64\n" + a + b + p + q + y + z + rest, "dim M = 64\n" + order + rest).verdict;
  };
  EXPECT_EQ(verdict(b + a + p + q + y + z), Verdict::kRefuted);
  EXPECT_EQ(verdict(a + b + p + q + z + y), Verdict::kRefuted);
  EXPECT_EQ(verdict(y + q + p + a + z + b), Verdict::kProved) << "params and buffers are known by their paths";
}

TEST(Interface, DrawsAndOperationsComeInTheProblemsOrder) {
  const std::string head = "dim M = 64\ninput x : f32[M]\noutput y : f32[M]\n";
  const auto ordered = [&](std::string first, const std::string& second, const std::string& y) {
    return std::pair(head + first + second + y, head + second + first + y);
  };
  for (const auto& [problem, candidate] :
       {ordered("random a : bool[M] from bernoulli(0.5)\n", "random b : bool[M] from bernoulli(0.5)\n",
                "y[m] = x[m]*a[m] + b[m]"),
        ordered("opaque a : f32[M] = \"aten.foo\"(x)\n", "opaque b : f32[M] = \"aten.bar\"(x)\n",
                "y[m] = a[m] + b[m]")}) {
    EXPECT_EQ(asked(problem, problem).verdict, Verdict::kProved);
    EXPECT_EQ(asked(problem, candidate).verdict, Verdict::kRefuted) << candidate;
  }
  const std::string result = head + "opaque a : f32[M] = \"aten.log\"(x)\n";
  EXPECT_NE(asked(result + "y[m] = select(a[m] > 0, 1, 2)", result + "y[m] = select(a[m] <= 0, 2, 1)").verdict,
            Verdict::kProved)
      << "what an operation gives may be NaN";
}

}  // namespace
}  // namespace solstice::ir
