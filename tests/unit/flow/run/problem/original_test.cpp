#include "flow/run/problem/original.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/paths.h"

namespace solstice::flow {
namespace {

constexpr const char* kRows = R"(program rows
dim B = 8, F = 6
param gain : f32[F] "norm.gain"
buffer seen : f32[F]
input x : bf16[B, F]
input i : i64[B]
output y : bf16[B, F]
output z : f32[B]
tensor after : f32[F] into seen
after[f] = seen[f] + mean[b](x[b,f])
y[b,f] = relu(x[i[b],f]) * gain[f]
z[b] = sum[f](x[b,f])
)";

Result<Written> rows() { return written_problem(kRows, "rows.ucut"); }

TEST(Original, IsWrittenNextToARun) {
  const Result<TempFolder> folder = TempFolder::create("solstice-test-");
  ASSERT_TRUE(folder.ok());
  const std::filesystem::path file = folder->path() / kOriginalFile;
  ASSERT_TRUE(write_original(kRows, "rows.ucut", file).ok());
  const Result<std::string> text = read_file(file);
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text->find("torch.randint(0, 8, (8,))"), std::string::npos) << *text;
}

TEST(Original, RefusesWhatHasNoOperatorsWithItsPlace) {
  const std::string text =
      "program p\ndim M = 4\ninput x : f32[M]\noutput y : f32[M]\n"
      "random keep : bool[M] from bernoulli(0.9)\ny[m] = select(keep[m], x[m], 0)\n";
  const Status done = write_original(text, "p.ucut", "unused.py");
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, Code::not_yet);
  EXPECT_EQ(done.error().line, 5);
}

// With Python: loaded, traced, and run in float64.
TEST(Original, IsTheProblemsModule) {
  if (!python_path().ok()) GTEST_SKIP() << "no Python with PyTorch";
  Result<run::OracleClient> oracle = run::OracleClient::start({.device = "cpu"});
  ASSERT_TRUE(oracle.ok()) << oracle.error().text();
  if (const auto hello = oracle->hello(); !hello.ok()) GTEST_SKIP() << hello.error().text();
  const Result<TempFolder> folder = TempFolder::create("solstice-test-");
  const std::filesystem::path file = folder->path() / kOriginalFile;
  ASSERT_TRUE(write_original(kRows, "rows.ucut", file).ok());
  Result<Written> written = rows();
  ASSERT_TRUE(written.ok());
  const Result<Problem> problem = trace_original(*oracle, file, {}, std::move(*written));
  ASSERT_TRUE(problem.ok()) << problem.error().text();
  std::vector<std::string> inputs;
  for (const importer::ImportedInput& input : problem->imported.inputs)
    inputs.push_back(input.fqn + ":" + input.tensor);
  EXPECT_EQ(inputs, (std::vector<std::string>{"norm.gain:gain", "seen:seen", ":x", ":i"}));
  ASSERT_EQ(problem->imported.outputs.size(), 2);
  EXPECT_EQ(problem->imported.outputs[1].tensor, "z");
  ASSERT_EQ(problem->imported.mutations.size(), 1);
  EXPECT_EQ(problem->imported.mutations[0].target, "seen");
  ASSERT_TRUE(oracle->prepare_inputs("trial", {}).ok());
  const auto expected = oracle->expected("trial", false);
  EXPECT_TRUE(expected.ok()) << expected.error().text();
}

}  // namespace
}  // namespace solstice::flow
