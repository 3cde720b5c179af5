#include "fixture.h"

#include <cmath>
#include <cstdlib>

namespace solstice::run {

std::unique_ptr<Judge> RuntimeTest::judge_;
std::string RuntimeTest::unavailable_;
std::string RuntimeTest::cubin_;
std::vector<DeviceBuffer> RuntimeTest::memory_;
std::vector<JudgeCase> RuntimeTest::cases_;

namespace {

std::vector<float> noise(uint64_t seed) {
  std::vector<float> out(kElements);
  for (float& value : out) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<float>(static_cast<double>(seed >> 11) / static_cast<double>(1ull << 53) * 4 - 2);
  }
  return out;
}

template <typename T>
Result<DeviceTensor> upload(const rt::Driver& driver, const std::vector<T>& values, DType dtype,
                            std::vector<DeviceBuffer>& owner) {
  const auto bytes = static_cast<int64_t>(values.size() * sizeof(T));
  SOLSTICE_TRY(DeviceBuffer buffer, DeviceBuffer::allocate(driver, bytes));
  SOLSTICE_CHECK(
      driver.check(driver.cuMemcpyHtoD(buffer.address(), values.data(), static_cast<size_t>(bytes)), "upload"));
  const DeviceTensor out{buffer.address(), dtype, {kElements}, {1}, bytes};
  owner.push_back(std::move(buffer));
  return out;
}

// The content of one case; all cases share `w`.
Result<JudgeCase> make_case(const rt::Driver& driver, int seed, const std::vector<float>& w,
                            const DeviceTensor& w_tensor, std::vector<DeviceBuffer>& owner) {
  const std::vector<float> x = noise(static_cast<uint64_t>(seed));
  std::vector<double> exact(kElements);
  std::vector<float> eager(kElements);
  for (size_t i = 0; i < x.size(); ++i) {
    exact[i] = 2.0 * x[i] + w[i];
    eager[i] = 2 * x[i] + w[i];
  }
  JudgeCase out;
  out.name = "seed " + std::to_string(seed);
  SOLSTICE_TRY(out.given["x"], upload(driver, x, DType::kF32, owner));
  out.given["w"] = w_tensor;
  ExpectedOutput& y = out.expected["y"];
  SOLSTICE_TRY(y.oracle, upload(driver, exact, DType::kF64, owner));
  SOLSTICE_TRY(const DeviceTensor own, upload(driver, eager, DType::kF32, owner));
  y.eager = own;
  return out;
}

Status make_cases(const rt::Driver& driver, std::vector<DeviceBuffer>& owner, std::vector<JudgeCase>& out) {
  const std::vector<float> w = noise(99);
  SOLSTICE_TRY(const DeviceTensor w_tensor, upload(driver, w, DType::kF32, owner));
  for (int seed = 1; seed <= 2; ++seed) {
    SOLSTICE_TRY(JudgeCase test, make_case(driver, seed, w, w_tensor, owner));
    out.push_back(std::move(test));
  }
  return success();
}

// For a judge that was started.
Status prepare_all(const Judge& judge, std::string& cubin, std::vector<DeviceBuffer>& memory,
                   std::vector<JudgeCase>& cases) {
  SOLSTICE_TRY(const auto root, data_root());
  SOLSTICE_TRY(const std::string source, read_file(root / "tests" / "gpu" / "runtime" / "kernels.cu"));
  SOLSTICE_TRY(cubin, compile_with_nvcc(source, "sm_90a"));
  return make_cases(judge.driver(), memory, cases);
}

}  // namespace

Result<std::unique_ptr<Judge>> RuntimeTest::start_judge() {
  JudgeOptions options;
  SOLSTICE_TRY(options.runner.program, companion("solstice-runner"));
  if (const char* cupti = std::getenv("SOLSTICE_CUPTI")) options.runner.cupti = cupti;
  options.compile = compile_with_nvcc;
  options.limits.run = Seconds(3);
  return Judge::start(std::move(options));
}

void RuntimeTest::SetUpTestSuite() {
  if (judge_) return;
  Result<std::unique_ptr<Judge>> judge = start_judge();
  if (judge.ok()) judge_ = std::move(*judge);
  const Status ready = judge_ ? prepare_all(*judge_, cubin_, memory_, cases_) : Status(judge.error());
  if (ready.ok()) return;
  const Code code = ready.error().code;
  unavailable_ = code == Code::no_driver || code == Code::no_gpu ? "no GPU: " + ready.error().message : "";
  ASSERT_FALSE(unavailable_.empty()) << ready.error().text();
}

void RuntimeTest::TearDownTestSuite() {
  cases_.clear();
  memory_.clear();
  judge_.reset();
}

void RuntimeTest::SetUp() {
  if (!unavailable_.empty()) GTEST_SKIP() << unavailable_;
  ASSERT_NE(judge_, nullptr);
}

PlanBuffer RuntimeTest::buffer(const std::string& name, BufferKind kind) {
  PlanBuffer out;
  out.name = name;
  out.kind = kind;
  out.shape = {kElements};
  out.strides = {1};
  out.bytes = kElements * 4;
  return out;
}

Argument RuntimeTest::pointer(const std::string& name) {
  Argument out;
  out.buffer = name;
  return out;
}

Argument RuntimeTest::count() {
  Argument out;
  out.kind = ArgumentKind::kI32;
  out.integer = kElements;
  return out;
}

Step RuntimeTest::step(const std::string& entry, std::vector<Argument> arguments) {
  Step out;
  out.name = out.entry = entry;
  out.module = "m";
  out.grid = {1024, 1, 1};
  out.block = {1024, 1, 1};
  out.arguments = std::move(arguments);
  return out;
}

Plan RuntimeTest::plan_of(const std::string& entry) {
  Plan out;
  out.program = entry;
  out.target = "sm_90a";
  out.buffers = {buffer("x", BufferKind::kInput), buffer("w", BufferKind::kParam), buffer("y", BufferKind::kOutput)};
  out.modules = {{"m", "m.cubin", hash_hex(cubin_), ""}};
  out.steps = {step(entry, {pointer("x"), pointer("w"), pointer("y"), count()})};
  return out;
}

std::filesystem::path RuntimeTest::save(const Plan& plan) {
  auto folder = TempFolder::create("gpu-plan");
  EXPECT_TRUE(folder.ok());
  folder_ = std::make_unique<TempFolder>(std::move(folder).value());
  EXPECT_TRUE(write_file(folder_->path() / "m.cubin", cubin_).ok());
  EXPECT_TRUE(write_file(folder_->path() / "plan.json", to_json(plan).dump(1)).ok());
  return folder_->path() / "plan.json";
}

Verdict RuntimeTest::verify(const Plan& plan) {
  const auto verdict = judge_->verify(save(plan), cases_);
  EXPECT_TRUE(verdict.ok()) << verdict.error().text();
  if (verdict.ok()) return *verdict;
  Verdict failed;
  failed.outcome = Outcome::kLoadFailed;
  return failed;
}

}  // namespace solstice::run
