// Accuracy of the predicted time of originals (sol/eager): predictions of this build against measured originals, by the
// class of operator that takes most of the time.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/original.h"

namespace solstice::flow {

// An original by one set of PyTorch's flags.
struct OriginalPoint {
  std::string problem;
  std::string kind;   // class of operator with the largest predicted share
  bool tf32 = false;  // products could use TF32
  bool held_out = false;
  Seconds predicted, measured;
  double ratio() const { return predicted / measured; }
};

// Errors are distances from 1 of predicted / measured: the larger of ratio and 1 / ratio, less 1.
struct OriginalErrors {
  std::string what;  // a class, or a set: "all by PyTorch's default flags"
  int count = 0;
  double median = 0, high = 0;  // high: 90 %
  double worst = 0;             // the ratio farthest from 1
  std::string problem;          // where
};

struct OriginalFit {
  std::string origin;  // machines, versions and sources of the times
  std::vector<OriginalPoint> points;
  std::vector<OriginalErrors> sets;     // default flags, TF32, those left out of the fit
  std::vector<OriginalErrors> classes;  // of those with default flags that parameters were fitted to
};

// Lines of solstice.original_time/1. Errors: not_found, bad_json, bad_record with the line.
Result<std::vector<OriginalTime>> read_originals(const std::filesystem::path& file);

// Errors: not_found where a machine description is missing; those of sol::predict_original.
Result<OriginalFit> judge_originals(const std::vector<OriginalTime>& originals);

}  // namespace solstice::flow
