// Ways of running a reduction or a recurrence, each against the same program written so that it is not taken.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "ir/bind.h"
#include "ir/equivalence.h"
#include "ir/interpret.h"

namespace solstice::ir {
namespace {

// Element by element nearly the same: the orders of summation differ.
void expect_same(const TensorValue& a, const TensorValue& b, const std::string& text) {
  ASSERT_EQ(a.shape, b.shape) << text;
  for (size_t i = 0; i < a.values.size(); ++i) {
    if (std::isnan(b.values[i])) {
      ASSERT_TRUE(std::isnan(a.values[i])) << text << " at " << i;
    } else if (a.values[i] != b.values[i]) {
      ASSERT_NEAR(a.values[i], b.values[i], 1e-14 * (1 + std::abs(b.values[i]))) << text << " at " << i;
    }
  }
}

// The output y of `declarations` with each of two equations.
void expect_agree(const std::string& declarations, const std::string& fast, const std::string& plain,
                  const std::function<void(TensorValues&)>& change = nullptr) {
  TensorValues inputs;
  std::vector<TensorValue> out;
  for (const std::string& equation : {fast, plain}) {
    Diagnostics diagnostics;
    const auto program = load_program("program p\n" + declarations + " " + equation, "test", diagnostics);
    ASSERT_TRUE(program.ok()) << program.error().text();
    if (inputs.empty()) {
      inputs = random_inputs(*program, 0, 3);
      if (change) change(inputs);
    }
    const auto values = interpret(*program, inputs);
    ASSERT_TRUE(values.ok()) << values.error().text();
    out.push_back(values->at("y"));
  }
  expect_same(out[0], out[1], fast);
}

// No index is bounded where the condition is selected by.
TEST(InterpretDomains, BoundsLeaveWhatConditionsSelect) {
  const std::string one = "input x : f32[7, 90] output y : f32[7, 90] ";
  for (const std::string condition : {"k == m", "2*k == m", "k <= m", "m < 3*k", "k >= m-2 and k <= m+2",
                                      "3*k+1 > 2*m and k < 60", "k < m or k == 80", "m > 4", "k != m"}) {
    expect_agree(one, "y[i,m] = sum[k where " + condition + "](x[i,k] * (m+1))",
                 "y[i,m] = sum[k](select(" + condition + ", x[i,k] * (m+1), 0))");
    expect_agree(one, "y[i,m] = max[k where " + condition + "](x[i,k])",
                 "y[i,m] = max[k](select(" + condition + ", x[i,k], -inf))");
    expect_agree(one, "y[i,m] = prod[k where " + condition + "](x[i,k] + 1)",
                 "y[i,m] = prod[k](select(" + condition + ", x[i,k] + 1, 1))");
  }
}

TEST(InterpretDomains, GuardsThatRelateTwoIndices) {
  const std::string sizes = "input x : f32[2, 3, 9, 8] param w : f32[3, 4, 5, 4] output y : f32[2, 4, 20, 21] ";
  for (const auto& [u, v] : {std::pair("u == 2*i+r-1", "v == 2*j+s-1"), std::pair("u == 3*i+2*r-4", "v == j-2*s+6"),
                             std::pair("u >= 2*i+r and u < 2*i+r+2", "v+1 == 2*j+s and j > 1")}) {
    const std::string product = "x[n,c,i,j] * w[c,k,r,s]";
    const std::string condition = std::string(u) + " and " + v;
    expect_agree(sizes, "y[n,k,u,v] = sum[c,i,j,r,s where " + condition + "](" + product + ")",
                 "y[n,k,u,v] = sum[c,i,j,r,s](select(" + condition + ", " + product + ", 0))");
  }
}

TEST(InterpretDomains, RowsInOrder) {
  const std::string sizes = "input x : f32[40, 300] output y : f32[40] ";
  const auto with_nan = [](TensorValues& in) {
    in["x"].values[311] = std::nan("");
    in["x"].values[700] = std::numeric_limits<double>::infinity();
  };
  // Across the rows, where the transpose is read.
  for (const std::string reducer : {"sum", "max", "min", "mean", "var", "logsumexp", "prod"}) {
    const std::string plain = "t[k,m] = x[m,k] y[m] = " + reducer + "[k](t[k,m])";
    expect_agree(sizes, "y[m] = " + reducer + "[k](x[m,k])", plain);
    expect_agree(sizes, "y[m] = " + reducer + "[k](x[m,k])", plain, with_nan);
  }
  expect_agree("input x : f32[40, 300] output y : i64[40] ", "y[m] = argmax[k](x[m,k])",
               "t[k,m] = x[m,k] y[m] = argmax[k](t[k,m])");
}

TEST(InterpretDomains, PrefixesShareTheirWalk) {
  const std::string sizes = "input x : f32[3, 700] output y : f32[3, 700] ";
  for (const std::string reducer : {"sum", "max", "mean", "var", "prod"}) {
    // A body that depends on t is walked for every t.
    expect_agree(sizes, "y[b,t] = " + reducer + "[s where s <= t and s > 2](x[b,s])",
                 "y[b,t] = " + reducer + "[s where s <= t and s > 2](select(t >= 0, x[b,s], 0))");
  }
  expect_agree("input x : f32[3, 700] output y : i64[3, 700] ", "y[b,t] = argmax[s where s <= t](x[b,s])",
               "y[b,t] = argmax[s where s <= t](select(t >= 0, x[b,s], 0))");
}

TEST(InterpretDomains, RunningValues) {
  for (const std::string row : {"7", "50", "700"}) {
    const std::string sizes = "input x : f32[9, " + row + "] output y : f32[9, " + row + "] ";
    // Carried by a second tensor, which is not recognised.
    const auto agree = [&](const std::string& a, const std::string& before, const std::string& b) {
      expect_agree(sizes, "y[b,t] = " + a + before + b,
                   "z[b,t] = " + before + " for t<" + row + " y[b,t] = " + a + "z[b,t]" + b);
    };
    agree("", "y[b,t-1 else 0]", " + x[b,t]");
    agree("x[b,t] * 2 + ", "y[b,t-1 else 1.5]", "");
    agree("(x[b,t] + 1) * ", "y[b,t-1 else 1]", "");
    agree("max(", "y[b,t-1 else 0.25]", ", x[b,t])");
    agree("min(x[b,t], ", "y[b,t-1 else 0.25]", ")");
  }
}

// Both sides of a condition that bounds an index are seen.
TEST(InterpretDomains, BoundsAreCovered) {
  const auto missed = [](const std::string& condition) {
    Diagnostics diagnostics;
    const auto p =
        load_program("program p\ninput x : f32[6] output y : f32[6] y[m] = sum[k where " + condition + "](x[k])",
                     "test", diagnostics);
    EXPECT_TRUE(p.ok()) << p.error().text();
    Coverage coverage;
    InterpretOptions options;
    options.coverage = &coverage;
    EXPECT_TRUE(interpret(*p, random_inputs(*p, 0, 1), options).ok());
    return coverage.uncovered().size();
  };
  EXPECT_EQ(missed("k <= m"), 0u);
  EXPECT_EQ(missed("k < 6"), 1u);
  EXPECT_EQ(missed("k > m and k < 7"), 1u);
  EXPECT_EQ(missed("k > m+6"), 1u);
}

}  // namespace
}  // namespace solstice::ir
