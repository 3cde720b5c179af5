// What the runtime's GPU tests share: a judge, values on the GPU, plans of the kernels in kernels.cu.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "base/paths.h"
#include "base/process/subprocess.h"
#include "run/judge.h"

namespace solstice::run {

constexpr int64_t kElements = (1 << 20) - 100;  // the last block is not full

// The tests' compiler: nvcc on PATH.
inline Result<std::string> compile_with_nvcc(const std::string& source, const std::string& arch) {
  SOLSTICE_TRY(const TempFolder folder, TempFolder::create("gpu-test"));
  SOLSTICE_CHECK(write_file(folder.path() / "k.cu", source));
  const std::string target = arch == "sm_90" ? "sm_90a" : arch;
  SOLSTICE_TRY(const CommandOutput out,
               run_command({.argv = {"nvcc", "-arch=" + target, "-cubin", "-o", (folder.path() / "k.cubin").string(),
                                     (folder.path() / "k.cu").string()}},
                           Seconds(120)));
  if (!out.exit.ok()) return fail(Code::compile_failed, out.err);
  return read_file(folder.path() / "k.cubin");
}

class RuntimeTest : public testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  void SetUp() override;

  static Result<std::unique_ptr<Judge>> start_judge();  // on GPU 0; several may be

  static PlanBuffer buffer(const std::string& name, BufferKind kind);
  static Argument pointer(const std::string& buffer);
  static Argument count();
  static Step step(const std::string& entry, std::vector<Argument> arguments);
  // x, w, y and one launch of `entry`(x, w, y, n).
  static Plan plan_of(const std::string& entry);
  // Writes plan and cubin; the path of the plan.
  std::filesystem::path save(const Plan& plan);
  Verdict verify(const Plan& plan);

  static std::unique_ptr<Judge> judge_;
  static std::string unavailable_;
  static std::string cubin_;
  static std::vector<DeviceBuffer> memory_;
  static std::vector<JudgeCase> cases_;
  std::unique_ptr<TempFolder> folder_;
};

}  // namespace solstice::run
