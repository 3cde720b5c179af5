// Of what NVRTC (or nvcc) makes, where the machine has one; and of bytes that are no cubin.
#include "toolchain/cubin.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "toolchain/compiler.h"

namespace solstice::toolchain {
namespace {

constexpr const char* kCode =
    "struct alignas(64) Descriptor { unsigned long long words[16]; };\n"
    "extern \"C\" __global__ void wide(const float* x, long long n, const __grid_constant__ Descriptor d, char c) {}\n"
    "extern \"C\" __global__ void none() { }\n"
    "extern \"C\" __global__ void asks(float** x) { *x = (float*)malloc(16); }\n";

class CubinTest : public ::testing::Test {
 protected:
  void SetUp() override {
    CompilerOptions options;
    options.workers = 1;
    options.kernels = folder_.path() / "kernels";
    options.cache = folder_.path() / "cache";
    Result<std::unique_ptr<Compiler>> made = Compiler::create(options);
    if (!made.ok()) GTEST_SKIP() << made.error().text();
    Result<Compiled> done = (*made)->compile({.name = "unit", .code = kCode, .file = "given.cu"});
    ASSERT_TRUE(done.ok()) << done.error().text();
    ASSERT_TRUE(done->ok()) << done->log;
    cubin_ = done->cubin;
  }

  TempFolder folder_ = TempFolder::create("cubin").value();
  std::string cubin_;
};

TEST_F(CubinTest, ParametersAndCalls) {
  const Result<CubinFacts> facts = read_cubin(cubin_);
  ASSERT_TRUE(facts.ok()) << facts.error().text();
  std::map<std::string, std::vector<int64_t>> found;
  for (const CubinKernel& kernel : facts->kernels) found[kernel.entry] = kernel.parameters;
  EXPECT_EQ(found.size(), 3U);
  EXPECT_EQ(found["wide"], (std::vector<int64_t>{8, 8, 128, 1}));
  EXPECT_EQ(found["none"], std::vector<int64_t>{});
  EXPECT_EQ(found["asks"], std::vector<int64_t>{8});
  EXPECT_EQ(facts->undefined, std::vector<std::string>{"malloc"});
}

// It comes from a process that the source may have taken over.
TEST_F(CubinTest, DamageIsSaidAndNothingElse) {
  for (size_t size = 0; size < cubin_.size(); size += 7) (void)read_cubin(std::string_view(cubin_).substr(0, size));
  EXPECT_FALSE(read_cubin(std::string_view(cubin_).substr(0, cubin_.size() / 2)).ok());
  for (size_t at = 0; at < cubin_.size(); ++at) {
    std::string damaged = cubin_;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
    (void)read_cubin(damaged);
  }
}

TEST(Cubin, OtherBytesAreNone) {
  for (const char* bytes : {"", "ELF",
                            "\x7f"
                            "ELF\x02\x01",
                            "no cubin at all, but long enough to have a header of sixty-four bytes"}) {
    const Result<CubinFacts> facts = read_cubin(bytes);
    ASSERT_FALSE(facts.ok());
    EXPECT_EQ(facts.error().code, Code::bad_record);
  }
}

}  // namespace
}  // namespace solstice::toolchain
