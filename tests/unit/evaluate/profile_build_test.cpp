// Profile builds have the machine code of the usual ones, and lead back to the program.
#include "evaluate/findings/profile_build.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/file.h"
#include "base/paths.h"
#include "diagnose/sass/disassemble.h"
#include "evaluate/findings/program_facts.h"
#include "ir/bind.h"
#include "toolchain/cubin.h"
#include "toolchain/worker.h"

// The compiler re-executes the running program as its worker; here that is this test.
__attribute__((constructor)) static void become_worker_of_profiles(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--compile-worker")
    _exit(solstice::toolchain::compile_worker_main(0, 1));
}

namespace solstice::evaluate {
namespace {

// Every way of a family to run a kernel that has a text of its own; small, so that compiling is quick.
struct ProfiledProgram {
  const char* name;
  const char* text;
};
constexpr ProfiledProgram kPrograms[] = {
    {"map",
     "input x : f32[64, 4098]\noutput y : f32[64, 4098]\nkernel k by map() {\n  z[i,j] = exp(x[i,j])\n"
     "  y[i,j] = z[i,j] / (1 + z[i,j])\n}\n"},
    {"rows",
     "input x : f32[512, 4096]\noutput y : f32[512, 4096]\nkernel k by rows() {\n  m[i] = max[j](x[i,j])\n"
     "  e[i,j] = exp(x[i,j] - m[i])\n  t[i] = sum[j](e[i,j])\n  y[i,j] = e[i,j] / t[i]\n}\n"},
    {"rows_online",
     "input x : f32[512, 4096]\noutput y : f32[512]\nkernel k by rows(residency=once) {\n"
     "  m[i] = max[j](x[i,j])\n  y[i] = sum[j](exp(x[i,j] - m[i]))\n}\n"},
    {"rows_team",
     "input x : f32[64, 65536]\noutput y : f32[64, 65536]\nkernel k by rows(team=16) {\n"
     "  t[i] = sum[j](x[i,j])\n  y[i,j] = x[i,j] - t[i]\n}\n"},
    {"reduce",
     "input x : f32[4096, 512]\noutput y : f32[512]\nkernel k by reduce() {\n  s[j] = sum[i](x[i,j]**2)\n"
     "  y[j] = sqrt(s[j])\n}\n"},
    {"scan",
     "input x : f32[64, 4096]\noutput y : f32[64, 4096]\nkernel k by scan() {\n"
     "  z[i,n] = sum[j where j <= n](x[i,j]) for n<4096\n  y[i,n] = tanh(z[i,n])\n}\n"},
    {"gemm",
     "input x : f32[512, 256]\nparam w : f32[512, 256]\noutput y : f32[512, 512]\n"
     "kernel k by gemm(math=fp16x3, stream=none) {\n  z[m,n] = sum[k](x[m,k] * w[n,k])\n"
     "  y[m,n] = max(z[m,n], 0)\n}\n"},
    {"gemm_simt",
     "input x : f32[512, 257]\nparam w : f32[512, 257]\noutput y : f32[512, 512]\n"
     "kernel k by gemm(math=simt) {\n  z[m,n] = sum[k](x[m,k] * w[n,k])\n  y[m,n] = erf(z[m,n])\n}\n"},
    {"gemm_rows",
     "input x : f32[512, 256]\nparam w : f32[512, 256]\noutput y : f32[512]\n"
     "kernel k by gemm(math=fp16x3, stream=none) {\n  z[m,n] = sum[k](x[m,k] * w[n,k])\n"
     "  y[m] = sum[n](exp(z[m,n]))\n}\n"},
    {"gemm_resident",
     "input x : f16[512, 256]\nparam w : f16[128, 256]\noutput y : f16[512, 128]\n"
     "kernel k by gemm() {\n  z[m,n] = sum[k](x[m,k] * w[n,k])\n  t[m] = max[n](z[m,n])\n"
     "  y[m,n] = z[m,n] - t[m]\n}\n"},
    {"gemm_stream",
     "input x : f32[8, 8192]\nparam w : f32[2048, 8192]\noutput y : f32[8, 2048]\n"
     "kernel k by gemm() {\n  z[m,n] = sum[k](x[m,k] * w[n,k])\n  y[m,n] = max(z[m,n], 0)\n}\n"},
    {"gemm_gemv",
     "input x : f32[1, 4096]\nparam w : f32[2048, 4096]\noutput y : f32[1, 2048]\n"
     "kernel k by gemm() {\n  z[m,n] = sum[k](x[m,k] * w[n,k])\n  y[m,n] = max(z[m,n], 0)\n}\n"},
    {"gemm_grouped",
     "input x : f16[512, 256]\ninput g : i32[512]\nparam w : f16[8, 256, 256]\n"
     "output y : f16[512, 256]\nkernel k by gemm() {\n  z[m,n] = sum[k](x[m,k] * w[g[m],n,k])\n"
     "  y[m,n] = max(z[m,n], 0)\n}\n"},
    {"cuda",
     "input x : f32[4096]\noutput y : f32[4096]\n"
     "source \"k.cu\" \"\"\"\nextern \"C\" __global__ void twice(const float* x, float* y) {\n"
     "  const int i = blockIdx.x * 256 + threadIdx.x;\n  y[i] = x[i] / 3.5f;\n}\n\"\"\"\n"
     "kernel k by cuda(\"k.cu\", entry=\"twice\", grid=16, block=256, args=(x, y)) {\n  y[i] = x[i] / 3.5\n}\n"}};

class ProfileBuild : public ::testing::TestWithParam<ProfiledProgram> {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TempFolder(TempFolder::create("profile-build").value());
    toolchain::CompilerOptions options;
    options.cache = folder_->path() / "cache";
    Result<std::unique_ptr<toolchain::Compiler>> made = toolchain::Compiler::create(options);
    if (made.ok()) compiler_ = made->release();
  }
  static void TearDownTestSuite() {
    delete compiler_;
    delete folder_;
    compiler_ = nullptr;
    folder_ = nullptr;
  }

  void build() {
    if (!compiler_) GTEST_SKIP() << "no compiler";
    const std::string text = fmt::format("program p\n{}", GetParam().text);
    Diagnostics diagnostics;
    auto program = ir::load_program(text, "p.ucut", diagnostics);
    ASSERT_TRUE(program.ok()) << render_text(diagnostics, text, "p.ucut");
    auto lowered = lower({*program, machine_});
    ASSERT_TRUE(lowered.ok()) << lowered.error().text();
    auto built = PendingBuild(std::move(*lowered), machine_, *compiler_).finish();
    ASSERT_TRUE(built.ok() && built->ok) << (built.ok() ? built->log : built.error().text());
    built_ = std::move(*built);
  }

  static inline TempFolder* folder_ = nullptr;
  static inline toolchain::Compiler* compiler_ = nullptr;
  const machine::Machine machine_ = machine::load_machine("h200").value();
  Built built_;
};

TEST_P(ProfileBuild, HasTheSameMachineCode) {
  build();
  if (IsSkipped() || HasFatalFailure()) return;
  for (size_t i = 0; i < built_.sources.size(); ++i) {
    const Result<std::string> lined = profile_cubin(built_, i, *compiler_);
    ASSERT_TRUE(lined.ok()) << lined.error().text();
    EXPECT_NE(lined->size(), built_.compiled[i].cubin.size()) << "it has line tables";
  }
}

// With the machine's nvdisasm, where it has one.
TEST_P(ProfileBuild, LeadsToTheEquations) {
  if (const auto by = toolchain::disassembler(); !by.ok()) GTEST_SKIP() << by.error().text();
  build();
  if (IsSkipped() || HasFatalFailure()) return;
  for (size_t i = 0; i < built_.sources.size(); ++i) {
    const auto facts = diagnose::sass_of_cubin(profile_cubin(built_, i, *compiler_).value(),
                                               {.cache = folder_->path() / "sass",
                                                .source = {built_.sources[i].file_name(), built_.sources[i].lines},
                                                .headers = data_folder("kernels").value()});
    ASSERT_TRUE(facts.ok()) << facts.error().text();
    for (const auto& [entry, sass] : *facts) {
      int64_t known = 0;
      for (const SassSpot& spot : sass.spots) {
        const CodePlace& place = sass.places[static_cast<size_t>(spot.place)];
        if (place.number > 0 || place.line > 0) known += spot.mix.instructions;
      }
      EXPECT_GT(6 * known, sass.mix.instructions) << built_.sources[i].name << " " << entry;
    }
  }
}

std::string name_of_program(const ::testing::TestParamInfo<ProfiledProgram>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Families, ProfileBuild, ::testing::ValuesIn(kPrograms), name_of_program);

}  // namespace
}  // namespace solstice::evaluate
