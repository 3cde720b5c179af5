// With a real NVRTC (or nvcc) where the machine has one.
#include "toolchain/compiler.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "base/clock.h"
#include "base/file.h"
#include "support/worker_process.h"

namespace solstice::toolchain {
namespace {

constexpr const char* kSource =
    "#include \"two.h\"\n"
    "extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] *= two(); }\n";

// A compile that runs for hours: the unrolled body has 2^40 statements.
constexpr const char* kEndless =
    "template <int N> struct R { static __device__ __forceinline__ float f(float x) {\n"
    "  return R<N - 1>::f(R<N - 1>::f(x)) * x; } };\n"
    "template <> struct R<0> { static __device__ __forceinline__ float f(float x) { return x + 1; } };\n"
    "extern \"C\" __global__ void endless(float* x) { x[0] = R<40>::f(x[0]); }\n";

class CompilerTest : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    put_header("__device__ inline float two() { return 2.f; }\n");
    Result<std::unique_ptr<Compiler>> made = Compiler::create(options());
    if (!made.ok() && made.error().code == Code::no_compiler) GTEST_SKIP() << made.error().text();
    ASSERT_TRUE(made.ok()) << made.error().text();
    compiler_ = std::move(made).value();
  }

  void put_header(const std::string& text) { ASSERT_TRUE(write_file(folder_.path() / "kernels" / "two.h", text).ok()); }

  CompilerOptions options() {
    CompilerOptions options;
    options.workers = 2;
    options.kernels = folder_.path() / "kernels";
    options.cache = folder_.path() / "cache";
    options.deadline = Seconds(120);
    options.toolchain.allow_nvrtc = GetParam() == Backend::kNvrtc;
    options.toolchain.allow_nvcc = GetParam() == Backend::kNvcc;
    return options;
  }

  Compiled compile(const std::string& code, std::vector<std::string> flags = {}) {
    const Result<Compiled> out = compiler_->compile({"unit", code, std::move(flags)});
    EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.error().text());
    return out.ok() ? *out : Compiled{};
  }

  TempFolder folder_ = TempFolder::create("compiler").value();
  std::unique_ptr<Compiler> compiler_;
};

// What does not depend on the compiler behind it.
class CompilerCacheTest : public CompilerTest {};

TEST_P(CompilerTest, CompilesAndReadsResourcesBack) {
  const Compiled out = compile(kSource);
  ASSERT_TRUE(out.ok()) << out.log;
  EXPECT_EQ(out.cubin.substr(1, 3), "ELF");
  ASSERT_EQ(out.kernels.size(), 1U) << out.log;
  EXPECT_EQ(out.kernels[0].entry, "twice");
  EXPECT_GT(out.kernels[0].registers, 0);
  EXPECT_EQ(out.kernels[0].spill_stores, 0);
}

// They are compiled on the user's machine, by whichever of the two it has.
TEST_P(CompilerTest, CompilesTheJudgesKernels) {
  const Result<std::string> source = read_file(std::filesystem::path(SOLSTICE_SOURCE_DIR) / "kernels/judge/judge.cu");
  ASSERT_TRUE(source.ok());
  const Compiled out = compile(*source);
  ASSERT_TRUE(out.ok()) << out.log;
  EXPECT_EQ(out.kernels.size(), 6U);
  for (const auto& kernel : out.kernels) EXPECT_EQ(kernel.spill_stores, 0) << kernel.entry;
}

TEST_P(CompilerCacheTest, TheSecondTimeItIsAHit) {
  const Compiled first = compile(kSource);
  const Compiled second = compile(kSource);
  EXPECT_FALSE(first.cached);
  EXPECT_TRUE(second.cached);
  EXPECT_EQ(first.cubin, second.cubin);
  EXPECT_EQ(first.key, second.key);
  EXPECT_EQ(second.kernels.size(), 1U);
  EXPECT_EQ(compiler_->compiles(), 1);
  EXPECT_EQ(compiler_->hits(), 1);
}

TEST_P(CompilerCacheTest, EveryInputIsInTheKey) {
  const std::string key = compile(kSource).key;
  EXPECT_NE(compile(std::string(kSource) + " ").key, key);
  EXPECT_NE(compile(kSource, {"-DX=1"}).key, key);
  put_header("__device__ inline float two() { return 2.0f; }\n");
  const Compiled changed = compile(kSource);
  EXPECT_NE(changed.key, key);
  EXPECT_FALSE(changed.cached);
  const Explanation why = explain(changed.key, folder_.path() / "cache").value();
  EXPECT_EQ(why.changed, std::vector<std::string>{"header two.h"});
}

TEST_P(CompilerTest, ErrorsHavePositionsInSourceAndHeaders) {
  const Compiled here = compile("\n\nextern \"C\" __global__ void k() { foo(); }\n");
  EXPECT_EQ(here.outcome, Outcome::kFailed);
  ASSERT_FALSE(parse_messages(here.log).empty()) << here.log;
  EXPECT_EQ(parse_messages(here.log)[0].file, "unit.cu");
  EXPECT_EQ(parse_messages(here.log)[0].line, 3);
  put_header("\n__device__ inline float two() { return three(); }\n");
  const Compiled there = compile(kSource);
  ASSERT_FALSE(parse_messages(there.log).empty()) << there.log;
  EXPECT_EQ(parse_messages(there.log)[0].line, 2);
  EXPECT_NE(parse_messages(there.log)[0].file.find("two.h"), std::string::npos);
}

// Under its own name; from the cache too.
TEST_P(CompilerTest, GivenCode) {
  const std::string code =
      "__device__ int calls, unused;\nextern \"C\" __global__ void k(float* x) { x[threadIdx.x] = "
      "static_cast<float>(++calls); }\n";
  for (const bool again : {false, true}) {
    const Result<Compiled> out = compiler_->compile({.name = "unit", .code = code, .file = "folder/given.cu"});
    ASSERT_TRUE(out.ok()) << out.error().text();
    ASSERT_TRUE(out->ok()) << out->log;
    EXPECT_EQ(out->cached, again);
  }
  const Result<Compiled> wrong =
      compiler_->compile({.name = "unit", .code = "\n\nint a = b;\n", .file = "folder/given.cu"});
  ASSERT_TRUE(wrong.ok()) << wrong.error().text();
  ASSERT_FALSE(parse_messages(wrong->log).empty()) << wrong->log;
  EXPECT_EQ(parse_messages(wrong->log)[0].file, "folder/given.cu");
  EXPECT_EQ(parse_messages(wrong->log)[0].line, 3);
}

TEST_P(CompilerCacheTest, ManyAtOnceAndTheSameOnlyOnce) {
  std::vector<std::shared_future<Result<Compiled>>> pending;
  for (int i = 0; i < 6; ++i) {
    pending.push_back(compiler_->submit({"unit", std::string(kSource) + "// " + std::to_string(i % 3), {}}));
  }
  for (const auto& each : pending) EXPECT_TRUE(each.get().ok() && each.get()->ok());
  EXPECT_EQ(compiler_->compiles(), 3);
}

TEST_P(CompilerCacheTest, IncludesMayNotLeave) {
  const Result<Compiled> out = compiler_->compile({"unit", "#include \"/etc/hostname\"\n", {}});
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.error().code, Code::bad_argument);
  EXPECT_EQ(out.error().file, "unit.cu");
}

TEST_P(CompilerTest, AHangCostsOneCompile) {
  CompilerOptions impatient = options();
  impatient.deadline = Seconds(2);
  impatient.workers = 1;
  compiler_ = Compiler::create(impatient).value();
  const Seconds begin = monotonic_now();
  const Compiled hung = compile(kEndless);
  EXPECT_EQ(hung.outcome, Outcome::kTimedOut) << hung.log;
  EXPECT_LT(monotonic_now() - begin, Seconds(8));
  EXPECT_TRUE(compile(kSource).ok());
}

std::string backend_name(const ::testing::TestParamInfo<Backend>& param) {
  return param.param == Backend::kNvrtc ? "nvrtc" : "nvcc";
}
// As at the end of a run's time: a compile that nobody waits for does not keep the process.
TEST_P(CompilerTest, EndsWithoutWaitingForWhatItCompiles) {
  compile(kSource);  // the worker is there
  const auto pending = compiler_->submit({"endless", kEndless});
  EXPECT_EQ(pending.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
  const Seconds began = monotonic_now();
  compiler_.reset();
  EXPECT_LT((monotonic_now() - began).value, 10);
}

INSTANTIATE_TEST_SUITE_P(Backends, CompilerTest, ::testing::Values(Backend::kNvrtc, Backend::kNvcc), backend_name);
INSTANTIATE_TEST_SUITE_P(Backends, CompilerCacheTest, ::testing::Values(Backend::kNvrtc), backend_name);

TEST(CompilerCrash, CostsOneCompile) {
  const TempFolder folder = TempFolder::create("crash").value();
  CompilerOptions options;
  options.workers = 1;
  options.kernels = folder.path();
  options.cache = folder.path() / "cache";
  // A worker that dies on its first line, and one that answers nonsense.
  options.worker_argv = {"/bin/sh", "-c", "read line; exit 9"};
  options.toolchain.allow_nvcc = false;
  Result<std::unique_ptr<Compiler>> compiler = Compiler::create(options);
  if (!compiler.ok()) GTEST_SKIP() << compiler.error().text();
  const Result<Compiled> out = (*compiler)->compile({"unit", "", {}});
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_EQ(out->outcome, Outcome::kCrashed);
  options.worker_argv = {"/bin/sh", "-c", "read line; echo nonsense; read line"};
  EXPECT_FALSE(Compiler::create(options).value()->compile({"unit", "", {}}).ok());
}

TEST(FindToolchain, SaysWhatItLookedAt) {
  const TempFolder folder = TempFolder::create("none").value();
  ToolchainOptions options;
  options.nvrtc = folder.path();
  options.search_system = false;
  const Result<Toolchain> none = find_toolchain(options);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Code::no_compiler);
  EXPECT_NE(none.error().message.find(folder.path().string()), std::string::npos);
  EXPECT_NE(none.error().hint.find("pip install nvidia-cuda-nvrtc"), std::string::npos);
}

}  // namespace
}  // namespace solstice::toolchain
