#include "ir/interpret/interpret_at.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numeric>

#include "base/file.h"
#include "ir/bind.h"
#include "ir/equivalence.h"
#include "ir/equivalence/inputs.h"
#include "ir/interpret.h"
#include "lang/parse.h"

namespace solstice::ir {
namespace {

Program loaded(const std::string& text) {
  Diagnostics diagnostics;
  auto program = load_program(text, "test", diagnostics);
  EXPECT_TRUE(program.ok()) << (program.ok() ? "" : program.error().text());
  return program.ok() ? std::move(*program) : Program();
}

InputFunction functions(const Program& program, int family) {
  auto inputs = std::make_shared<InputFunctions>(program, family, 1);
  return [inputs](int tensor, const int64_t* at, int64_t n, double* out) { inputs->evaluate(tensor, at, n, out); };
}

// Every element by itself is what the whole evaluation gives.
void expect_the_whole(const Program& program, const std::string& name) {
  const auto whole = interpret(program, random_inputs(program, 0, 1));
  ASSERT_TRUE(whole.ok()) << name << ": " << whole.error().text();
  PointInterpreter points(program);
  for (const auto& [tensor, value] : *whole) {
    std::vector<int64_t> at(std::min<size_t>(value.values.size(), 700));
    for (size_t i = 0; i < at.size(); ++i) at[i] = static_cast<int64_t>(i * 7919 % value.values.size());
    points.begin(functions(program, 0), int64_t{1} << 40);
    const auto found = points.at(program.find_tensor(tensor), at);
    ASSERT_TRUE(found.ok()) << name << ": " << found.error().text();
    for (size_t i = 0; i < at.size(); ++i) {
      const double expected = value.values[static_cast<size_t>(at[i])];
      if (std::isnan(expected)) continue;
      EXPECT_NEAR((*found)[i], expected, 1e-12 * std::max(1.0, std::abs(expected)))
          << name << " " << tensor << " " << at[i];
    }
  }
}

TEST(InterpretAt, IsTheWholeEvaluationOfTheTwelvePrograms) {
  for (const auto& entry : std::filesystem::directory_iterator(SOLSTICE_SOURCE_DIR "/examples/programs")) {
    const auto text = read_file(entry.path());
    ASSERT_TRUE(text.ok());
    Diagnostics diagnostics;
    const lang::Program tree = lang::parse(*text, diagnostics);
    const auto small = bind(lang::with_dims(tree, shrunken_dims(tree, tree, 0)), diagnostics);
    ASSERT_TRUE(small);
    expect_the_whole(*small, entry.path().filename().string());
  }
}

TEST(InterpretAt, RecurrencesPiecesAndGathers) {
  for (const char* text : {
           "input x : f32[40, 6] output y : f32[40, 6] y[t,b] = x[t,b] + y[t-1,b else 0]",
           "input x : f32[6, 40] output y : f32[6, 40] y[b,t] = x[b,t] + 0.5 * y[b,t+1 else 0]",
           "input x : f32[9, 4, 5] param w : f32[5, 5] output h : f32[9, 4, 5] "
           "h[t,b,j] = tanh(x[t,b,j] + sum[k](h[t-1,b,k else 0] * w[j,k]))",
           "input x : f32[12, 4] output y : f32[12, 4] output z : f32[12, 4] "
           "y[t,b] = x[t,b] + z[t-1,b else 1] z[t,b] = 0.5 * y[t,b] - z[t-1,b else 0]",
           "input x : f32[5, 6] output y : f32[11, 6] y[2*i+1,n] = x[i,n] y[2*i,n] = x[i-1,n else 3] * 2 for i < 6",
           "input x : f32[7] output y : f32[7] y[6-i] = x[i]",
           "input x : f32[4, 9] input i : i64[3] output y : f32[3, 9] y[m,n] = x[i[m],n]",
           "input x : f32[20] output y : i64[20] y[r] = argtop[i; r](x[i])",
           "input x : f32[3, 4, 5] output y : f32[60] y[20*i+5*j+k] = x[i,j,k] * 2",
       }) {
    expect_the_whole(loaded(std::string("program p\n") + text), text);
  }
}

// At the real dims, where the tensors would need 250 GB.
TEST(InterpretAt, AllocatesNoTensor) {
  const Program program = loaded(
      "program p dim M = 65536, N = 65536, K = 8192 input a : f32[M, K] input b : f32[N, K] output y : f32[M, N] "
      "y[m,n] = sum[k](a[m,k] * b[n,k])");
  PointInterpreter points(program);
  points.begin(functions(program, 0), 10'000'000);
  const auto found = points.at(program.find_tensor("y"), {0, int64_t{65535} * 65536 + 65535});
  ASSERT_TRUE(found.ok()) << found.error().text();
  const InputFunctions inputs(program, 0, 1);
  double expected = 0;
  for (int64_t k = 0; k < 8192; ++k) {
    double a = 0, b = 0;
    const int64_t at = int64_t{65535} * 8192 + k;
    inputs.evaluate(program.find_tensor("a"), &at, 1, &a);
    inputs.evaluate(program.find_tensor("b"), &at, 1, &b);
    expected += a * b;
  }
  EXPECT_NEAR((*found)[1], expected, 1e-9);
  EXPECT_LT(points.operations(), 500'000);
}

TEST(InterpretAt, SaysWhatIsNotAffordable) {
  const Program program = loaded(
      "program p dim T = 4096, H = 1024 input x : f32[T, H] param w : f32[H, H] output h : f32[T, H] "
      "h[t,j] = tanh(x[t,j] + sum[k](h[t-1,k else 0] * w[j,k]))");
  PointInterpreter points(program);
  points.begin(functions(program, 0), 10'000'000);
  const auto last = points.at(program.find_tensor("h"), {int64_t{4095} * 1024});
  ASSERT_FALSE(last.ok());
  EXPECT_EQ(last.error().code, Code::too_large);
  points.begin(functions(program, 0), 10'000'000);
  EXPECT_TRUE(points.at(program.find_tensor("h"), {0, 5}).ok()) << "the first step needs no other";
}

}  // namespace
}  // namespace solstice::ir
