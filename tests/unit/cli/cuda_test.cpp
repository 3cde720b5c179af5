// Device code in programs, as a reader tries it: compiled by the machine's NVRTC where it has one.
#include <algorithm>

#include "base/json.h"
#include "unit/cli/program.h"

namespace solstice::cli {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = SOLSTICE_SOURCE_DIR;

class CudaProgramTest : public ProgramTest {
 protected:
  void SetUp() override {
    if (compile(kRoot / "examples/rms_silu.ucut").err.find("error[no_compiler]") != std::string::npos) {
      GTEST_SKIP() << "no NVRTC and no nvcc: device code was not compiled";
    }
  }

  CommandOutput compile(const fs::path& program) {
    return run({"compile", program.string(), "--out", (folder_.path() / "plan").string()});
  }

  // y[n] = 2 * x[n] by that code.
  CommandOutput compile_twice(const std::string& code) {
    const fs::path file = folder_.path() / "twice.ucut";
    const std::string text =
        "program p\ndim N = 1024\ninput x : f32[N]\noutput y : f32[N]\n"
        "kernel k by cuda(\"k.cu\", entry=\"f\", args=(x, y, N), grid=4, block=256) { y[n] = 2 * x[n] }\n"
        "source \"k.cu\" \"\"\"\n" +
        code + "\"\"\"\n";
    EXPECT_TRUE(write_file(file, text).ok());
    return compile(file);
  }
};

constexpr const char* kPlain =
    "extern \"C\" __global__ void f(const float* x, float* y, long long n) {\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] = 2 * x[i];\n"
    "}\n";

TEST_F(CudaProgramTest, ExamplesCompile) {
  const CommandOutput done = compile(kRoot / "examples/rms_silu.ucut");
  EXPECT_EQ(done.exit.code, 0) << done.err;
  EXPECT_NE(done.out.find("rms_silu"), std::string::npos) << done.out;
  // What was compiled is the file beside the program, as it is.
  const Result<std::string> written = read_file(folder_.path() / "plan/norm.cu"),
                            given = read_file(kRoot / "examples/rms_silu.cu");
  ASSERT_TRUE(written.ok() && given.ok());
  EXPECT_EQ(*written, *given);
  EXPECT_EQ(compile_twice(kPlain).exit.code, 0);
}

TEST_F(CudaProgramTest, CheckPrintsItWhole) {
  const CommandOutput printed = run({"check", (kRoot / "examples/rms_silu.ucut").string(), "--print"});
  ASSERT_EQ(printed.exit.code, 0) << printed.err;
  const fs::path elsewhere = folder_.path() / "alone.ucut";
  ASSERT_TRUE(write_file(elsewhere, printed.out).ok());
  EXPECT_EQ(run({"check", elsewhere.string(), "--print"}).out, printed.out);
  EXPECT_EQ(compile(elsewhere).exit.code, 0);
}

TEST_F(CudaProgramTest, RunPredictsALowerLimit) {
  const CommandOutput done = run({"run", (kRoot / "examples/rms_silu.ucut").string(), "--device", "model", "--json"});
  ASSERT_EQ(done.exit.code, 0) << done.err;
  const double seconds = parse_json(done.out)->at("trial").at("time").as_double();
  EXPECT_GT(seconds, 2.0 * 4096 * 4096 * 4 / 4.8e12);
  EXPECT_LT(seconds, 60e-6);
}

TEST_F(CudaProgramTest, CuTeAndTheProjectsHeadersAreThere) {
  const CommandOutput cute =
      compile_twice(std::string("#include <cute/tensor.hpp>\n#include <cutlass/arch/barrier.h>\n") +
                    "extern \"C\" __global__ void f(const float* x, float* y, long long n) {\n"
                    "  const auto from = cute::make_tensor(cute::make_gmem_ptr(x), cute::make_shape(n));\n"
                    "  const auto to = cute::make_tensor(cute::make_gmem_ptr(y), cute::make_shape(n));\n"
                    "  to(blockIdx.x * blockDim.x + threadIdx.x) = 2 * from(blockIdx.x * blockDim.x + threadIdx.x);\n"
                    "}\n");
  if (cute.err.find("cannot open source file \"cute/tensor.hpp\"") != std::string::npos)
    GTEST_SKIP() << "no CUTLASS headers: " << cute.err;
  EXPECT_EQ(cute.exit.code, 0) << cute.err;
  // CUTLASS's epilogues say std::is_pointer_v.
  const CommandOutput builders =
      compile_twice(std::string("#include <type_traits>\n#include <cutlass/gemm/collective/collective_builder.hpp>\n"
                                "#include <cutlass/epilogue/collective/collective_builder.hpp>\n") +
                    kPlain);
  EXPECT_EQ(builders.exit.code, 0) << builders.err;
  const CommandOutput others =
      compile_twice(std::string("#include <cuda/std/cstdint>\n#include <cub/block/block_reduce.cuh>\n#include "
                                "<cuda_bf16.h>\n#include \"math/vector.h\"\n") +
                    kPlain);
  EXPECT_EQ(others.exit.code, 0) << others.err;
}

// What a device can have of the standard library goes by the names of host code.
TEST_F(CudaProgramTest, StandardHeadersGoByTheirNames) {
  std::string all;
  for (const auto& entry : fs::directory_iterator(kRoot / "kernels/std")) {
    const std::string name = entry.path().filename().string();
    if (name != "names.h") all += "#include <" + name + ">\n";
  }
  const CommandOutput done = compile_twice(
      all +
      "extern \"C\" __global__ void f(const float* x, float* y, long long n) {\n"
      "  const uint32_t block = blockIdx.x;\n"
      "  const std::size_t i = std::size_t{block} * 256 + threadIdx.x;\n"
      "  const std::array<std::uint8_t, 2> bytes{1, 2};\n"
      "  static_assert(std::is_same_v<std::tuple_element_t<0, std::tuple<float, int>>, float> && INT_MAX > 0 && "
      "SIZE_MAX > 0);\n"
      "  float most = std::min(FLT_MAX, std::numeric_limits<float>::max());\n"
      "  uint32_t bits;\n"
      "  memcpy(&bits, &most, sizeof(bits));\n"
      "  assert(std::isfinite(most) && bits == std::bit_cast<uint32_t>(FLT_MAX) && DBL_EPSILON > 0 && INFINITY > "
      "most);\n"
      "  if (i < n) y[i] = std::max(2 * x[i], -most) * bytes[0] + std::sqrt(0.0f) + std::fabs(0.0f) + sqrtf(0);\n"
      "}\n");
  EXPECT_EQ(done.exit.code, 0) << done.err;
}

TEST_F(CudaProgramTest, MistakesHaveTheirLine) {
  const CommandOutput syntax =
      compile_twice(std::string("// a comment\n\n") + "extern \"C\" __global__ void f() { int a = ; }\n");
  EXPECT_EQ(syntax.exit.code, 2);
  EXPECT_NE(syntax.err.find("k.cu(3): error: expected an expression"), std::string::npos) << syntax.err;
  const CommandOutput host = compile_twice(std::string("#include <vector>\n") + kPlain);
  EXPECT_NE(host.err.find("k.cu(1)"), std::string::npos) << host.err;
  EXPECT_NE(host.err.find("of the standard library what a device can have"), std::string::npos) << host.err;
}

// Another machine has other limits.
TEST_F(CudaProgramTest, BlocksAreHeldToTheMachine) {
  const auto compile_for = [&](const std::string& what, const std::string& instead) {
    std::string machine = std::move(read_file(kRoot / "machines/h200.toml")).value();
    machine.replace(machine.find(what), what.size(), instead);
    EXPECT_TRUE(write_file(folder_.path() / "small.toml", machine).ok());
    return run({"compile", (folder_.path() / "twice.ucut").string(), "--machine",
                (folder_.path() / "small.toml").string(), "--out", (folder_.path() / "plan").string()});
  };
  std::string shared = kPlain;
  shared.replace(shared.find("{\n"), 2,
                 "{\n  __shared__ float s[1024];\n  s[threadIdx.x] = x[0];\n  y[n - 1] = s[threadIdx.x ^ 1];\n");
  ASSERT_EQ(compile_twice(shared).exit.code, 0);
  EXPECT_EQ(compile_for("registers = 65536", "registers = 65536").exit.code, 0);
  const CommandOutput registers = compile_for("registers = 65536", "registers = 1024");
  EXPECT_EQ(registers.exit.code, 2);
  EXPECT_NE(registers.err.find("so that a block of 256 threads needs"), std::string::npos) << registers.err;
  EXPECT_NE(registers.err.find("of 1024: fewer threads"), std::string::npos) << registers.err;
  const CommandOutput memory = compile_for("shared = \"227 KiB\"", "shared = \"2 KiB\"");
  EXPECT_EQ(memory.exit.code, 2);
  EXPECT_NE(memory.err.find("has 4096 bytes of static shared memory"), std::string::npos) << memory.err;
  EXPECT_NE(memory.err.find("a block has 2048"), std::string::npos) << memory.err;
}

// tests/evil: one idea a file; its second line has a part of what is said.
TEST_F(CudaProgramTest, EvilCodeIsRefused) {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(kRoot / "tests/evil")) {
    const std::string text = std::move(read_file(entry.path())).value();
    const std::string mark = "\n# refused: ";
    const size_t begin = text.find(mark) + mark.size();
    const std::string expected = text.substr(begin, text.find('\n', begin) - begin);
    const CommandOutput done = compile(entry.path());
    EXPECT_EQ(done.exit.code, 2) << entry.path() << "\n" << done.out << done.err;
    EXPECT_NE(done.err.find(expected), std::string::npos) << entry.path() << "\n" << done.err;
    EXPECT_EQ(done.err.find("root:"), std::string::npos) << entry.path();  // of /etc/passwd
    ++count;
  }
  EXPECT_GE(count, 31U);
}

TEST_F(CudaProgramTest, FilesOutsideTheFolderAreNotTakenIn) {
  ASSERT_TRUE(write_file(folder_.path() / "k.cu", kPlain).ok());
  const auto check = [&](const std::string& name) {
    const fs::path file = folder_.path() / "below/p.ucut";
    EXPECT_TRUE(write_file(file, "program p\ninput x : f32[256]\noutput y : f32[256]\nkernel k by cuda(\"" + name +
                                     "\", entry=\"f\", args=(x, y), grid=1, block=256) { y[n] = 2 * x[n] }\n")
                    .ok());
    return run({"check", file.string()});
  };
  fs::create_directories(folder_.path() / "below");
  fs::create_symlink(folder_.path() / "k.cu", folder_.path() / "below/link.cu");
  for (const std::string& name :
       {std::string("../k.cu"), (folder_.path() / "k.cu").string(), std::string("link.cu"), std::string("no.cu")}) {
    const CommandOutput done = check(name);
    EXPECT_EQ(done.exit.code, 2) << name;
    EXPECT_NE(done.err.find("there is no source `" + name + "`"), std::string::npos) << done.err;
  }
  ASSERT_TRUE(write_file(folder_.path() / "below/inner/k.cu", kPlain).ok());
  EXPECT_EQ(check("inner/k.cu").exit.code, 0);
  ASSERT_TRUE(write_file(folder_.path() / "below/marks.cu", "int a;\n\"\"\"\n").ok());
  EXPECT_NE(check("marks.cu").err.find("which would end it"), std::string::npos);
}

}  // namespace
}  // namespace solstice::cli
