// Values that a candidate is judged on, and what a block of timed repetitions gave.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "numerics/policy.h"
#include "record/verdict.h"
#include "run/device_memory.h"

namespace solstice::run {

struct ExpectedOutput {
  DeviceTensor oracle;                // float64 for floats
  std::optional<DeviceTensor> eager;  // PyTorch's own result
  numerics::Sum sum;                  // the reduction behind it, for the modelled error
  std::optional<DeviceTensor>
      room;  // f32: how far a value may lie off where the inputs do not determine it, else negative
  std::optional<DeviceTensor> left_out;  // f64: the oracle's value for finite inputs where it is not finite and does
                                         // not depend on those that are not, else NaN. None: no such value counts
  numerics::Errors tf32{-1, -1};  // of PyTorch's own result with TF32 allowed, negative where it was not measured
  numerics::OwnMath own = numerics::OwnMath::kStrict;
};

// One set of values. Keys are names of plan buffers. `given` covers every input, parameter and state, with the plan's
// strides; `expected` every output and every written state or input.
struct JudgeCase {
  std::string name;  // "seed 1, normal"
  std::string set;   // of the oracle
  std::map<std::string, DeviceTensor> given;
  std::map<std::string, ExpectedOutput> expected;
  bool tf32_measured = false;  // ExpectedOutput::tf32, as far as that could be
  bool merge_nonfinite =
      false;  // NaN and the infinities count as one class: for rewritten equations, on inputs that hold such
};

enum class Tracer { kEvents, kCupti };

struct TimedBlock {
  std::vector<double> seconds;                        // of each repetition; empty where the verdict is not passed
  std::vector<std::string> activities;                // CUPTI: what one repetition ran
  std::vector<std::vector<double>> activity_seconds;  // CUPTI: of each activity, of each repetition
  std::vector<std::vector<double>> activity_starts = {}, activity_ends = {};  // CUPTI: from a repetition's first start
  Seconds launch;                                                             // host time of a launch call
  Verdict verdict;                                                            // of every timed output
};

}  // namespace solstice::run
