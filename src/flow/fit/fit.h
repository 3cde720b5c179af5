// Accuracy of the cost models: ratios of predicted to measured time by family and layout (without the time that events
// themselves add, which an empty kernel shows), and the time lost by trusting the models for the fastest schedule and
// the fastest cut into kernels. Predictions are those of this build: measured times stay true when a model is mended.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/kernel_time.h"

namespace solstice::flow {

// A measured program with what this build predicts of it.
struct FitPoint {
  KernelTime time;
  std::string family;  // of its one kernel; "programs" where there are several
  std::string form;    // the family's layout (families::Cost::form)
  Seconds predicted;
  std::vector<std::pair<std::string, Seconds>> terms;  // of the prediction, summed over kernels
  std::string schedule;
  Seconds net;  // measured, without what a launch that does nothing takes between events beyond the machine's `launch`
  double ratio() const { return predicted / net; }
};

// Statistics of predicted / measured.
struct FitRatios {
  std::string family, form;  // form "": all of the family
  int count = 0;
  double mean = 0;                       // geometric
  double low = 0, middle = 0, high = 0;  // quantiles: 10, 50, 90 %
  double error = 0;                      // median distance from 1: the larger of ratio and 1 / ratio, less 1
  double worst = 0;                      // the ratio farthest from 1
  std::string problem, schedule;         // where
};

// Problems with several schedules measured (or several cuts): the time lost by running the one with the least
// prediction.
struct FitChoices {
  std::string family;  // of the chosen kernel; "cuts"
  int problems = 0;
  int near = 0;                          // within 5 % of the fastest
  double loss = 0;                       // mean of chosen / fastest - 1
  double worst = 0;                      // the most
  std::string problem, chosen, fastest;  // there
};

struct Fit {
  std::vector<FitPoint> points;
  std::vector<FitRatios> ratios;  // by family, each followed by its forms
  std::vector<FitChoices> choices;
  std::vector<std::string> dropped;  // programs that this build makes nothing of, and why
};

// Lines of solstice.kernel_time/1. Errors: not_found, bad_json, bad_record with the line.
Result<std::vector<KernelTime>> read_kernel_times(const std::filesystem::path& file);
// The same of the verified trials of the run store: one problem a run. Times of predictions are left out.
Result<std::vector<KernelTime>> kernel_times_of_trials(const std::filesystem::path& store);

// Errors: not_found where a machine description is missing.
Result<Fit> judge_models(const std::vector<KernelTime>& times);

}  // namespace solstice::flow
