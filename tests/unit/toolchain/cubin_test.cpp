// Of what NVRTC (or nvcc) makes, where the machine has one; and of bytes that are no cubin.
#include "toolchain/cubin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "toolchain/compiler.h"

namespace solstice::toolchain {
namespace {

constexpr const char* kCode =
    "struct alignas(64) Descriptor { unsigned long long words[16]; };\n"
    "extern \"C\" __global__ void wide(const float* x, long long n, const __grid_constant__ Descriptor d, char c) {}\n"
    "extern \"C\" __global__ void none() { }\n"
    "extern \"C\" __global__ void asks(float** x) { *x = (float*)malloc(16); }\n";

constexpr const char* kLastingCode =
    "__device__ int calls, unused;\n"
    "extern \"C\" __global__ void counts(float* x) { x[blockIdx.x * blockDim.x] = ++calls; }\n"
    "extern \"C\" __global__ void hides(float* x) {\n"
    "  asm volatile(\"{ .global.align 4 .u32 hidden; atom.global.add.u32 %0, [hidden], 1; }\" : \"=r\"(*(int*)x)); }\n";

class CubinTest : public ::testing::Test {
 protected:
  void SetUp() override {
    CompilerOptions options;
    options.workers = 1;
    options.kernels = folder_.path() / "kernels";
    options.cache = folder_.path() / "cache";
    Result<std::unique_ptr<Compiler>> made = Compiler::create(options);
    if (!made.ok()) GTEST_SKIP() << made.error().text();
    compiler_ = std::move(*made);
    cubin_ = compiled(kCode);
  }
  std::string compiled(const char* code) {
    Result<Compiled> done = compiler_->compile({.name = "unit", .code = code, .file = "given.cu"});
    EXPECT_TRUE(done.ok() && done->ok()) << (done.ok() ? done->log : done.error().text());
    return done.ok() ? done->cubin : "";
  }

  TempFolder folder_ = TempFolder::create("cubin").value();
  std::unique_ptr<Compiler> compiler_;
  std::string cubin_;
};

TEST_F(CubinTest, LineTablesAreNoMachineCode) {
  const auto lined = compiler_->compile({.name = "unit", .code = kCode, .options = {"-lineinfo"}, .file = "given.cu"});
  ASSERT_TRUE(lined.ok() && lined->ok()) << (lined.ok() ? lined->log : lined.error().text());
  EXPECT_NE(lined->cubin, cubin_);
  EXPECT_TRUE(has_same_code(cubin_, lined->cubin).value());
  EXPECT_FALSE(has_same_code(cubin_, compiled(kLastingCode)).value());
  EXPECT_FALSE(has_same_code(cubin_, "no cubin").ok());
}

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

// Variables of assembly too; not those that nothing uses.
TEST_F(CubinTest, WhatLastsAndWhatIsRead) {
  const Result<CubinFacts> facts = read_cubin(compiled(kLastingCode));
  ASSERT_TRUE(facts.ok()) << facts.error().text();
  const std::set<std::string> lasting(facts->lasting.begin(), facts->lasting.end());
  EXPECT_EQ(lasting, (std::set<std::string>{"calls", "hidden"}));
  EXPECT_EQ(facts->kernels.front().parameters_at, 0x210);
  const auto reads = [&](int offset) {
    return std::count(facts->reads.begin(), facts->reads.end(), ConstantRead{0, offset, 4, false});
  };
  EXPECT_EQ(reads(0x28), 1);   // the stack, of every kernel
  EXPECT_EQ(reads(0x0), 1);    // blockDim.x
  EXPECT_EQ(reads(0x198), 0);  // no address of a parameter
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
