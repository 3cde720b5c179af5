// The judge's own GPU work (kernels/judge/judge.cu): comparing, looking for changed bytes, filling. Everything happens
// on one stream and is over when a function returns.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "rt/arena.h"
#include "rt/cuda_driver.h"
#include "run/device_memory.h"

namespace solstice::run {

// CUDA source and architecture ("sm_90a") to a cubin's bytes.
using CompileFunction = std::function<Result<std::string>(const std::string& source, const std::string& arch)>;

// Twin of the kernel's struct Rows: the elementwise scale is the oracle's rms over runs of `run` elements in rows of
// `row` (record/verdict.h says which).
struct ScaleRows {
  int64_t row = 1, run = 1, runs_a_row = 1;
};
ScaleRows scale_rows(const std::vector<int64_t>& shape);

struct Comparison {
  int64_t elements = 0;
  double normwise = 0, elementwise = 0;                      // candidate against oracle
  double reference_normwise = 0, reference_elementwise = 0;  // PyTorch against oracle, 0 without one
  double got = 0, expected = 0;
  int64_t worst = -1;
  int64_t class_mismatches = 0, first_mismatch = -1;
  int64_t poison_left = 0;
  int64_t unequal = 0;   // to PyTorch's value (the oracle's where there is none)
  int64_t excused = 0;   // within their room; no error above is theirs
  int64_t left_out = 0;  // numbers by `finite` where neither the oracle nor PyTorch has one
};

struct Difference {
  int64_t bytes = 0;
  int64_t first = -1;
};

// A file of kernels/judge/ for this device.
Result<std::string> compile_judge_kernels(std::string_view file, const rt::DeviceContext& context,
                                          const CompileFunction& compile);

class JudgeKernels {
 public:
  static Result<std::unique_ptr<JudgeKernels>> create(const rt::Driver& driver, const rt::DeviceContext& context,
                                                      const CompileFunction& compile);
  ~JudgeKernels();

  // `merged`: NaN and the infinities are one class. `room` (f32): how far an element may lie from the oracle's where
  // the inputs do not determine it, negative where they do; PyTorch's error is of the latter. `finite` (f64): what the
  // oracle's value is where it is not finite and yet a number is right (ExpectedOutput::left_out), else NaN.
  Result<Comparison> compare(const DeviceTensor& candidate, const DeviceTensor& oracle,
                             const std::optional<DeviceTensor>& reference, uint8_t poison, bool merged = false,
                             const std::optional<DeviceTensor>& room = std::nullopt,
                             const std::optional<DeviceTensor>& finite = std::nullopt);
  Result<Difference> differ(cu::DevicePtr a, cu::DevicePtr b, int64_t bytes);
  Result<Difference> differ(cu::DevicePtr arena, std::span<const rt::ArenaRange> ranges, uint8_t value);
  Status copy(cu::DevicePtr to, cu::DevicePtr from, int64_t bytes);
  Status fill(cu::DevicePtr to, uint8_t value, int64_t bytes);
  Status finish();  // waits for copies and fills

 private:
  explicit JudgeKernels(const rt::Driver& driver) : driver_(driver) {}
  Result<cu::Function> function(const char* name);
  Status launch(cu::Function function, unsigned blocks, unsigned rows, void** parameters);
  Result<Difference> read_difference();
  Status reserve(DeviceBuffer& buffer, int64_t bytes);

  const rt::Driver& driver_;
  cu::Library library_ = nullptr;
  cu::Function run_rms_ = nullptr, sum_runs_ = nullptr, fill_runs_ = nullptr, compare_ = nullptr,
               bytes_differ_ = nullptr, ranges_differ_ = nullptr;
  cu::Stream stream_ = nullptr;
  DeviceBuffer rms_, partials_, ranges_, difference_;
};

}  // namespace solstice::run
