// Time by kernel of a program in one trial: by CUPTI's trace of a call, and by the cost models.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/fields.h"

namespace solstice {

// A launch, memset or copy of a plan.
struct TracedStep {
  std::string step;  // its name in the plan
  Seconds measured;
  static auto fields() {
    return std::make_tuple(field("step", &TracedStep::step, "name in the plan"),
                           field("measured", &TracedStep::measured, "seconds, median"));
  }
};

struct TracedKernel {
  std::string kernel;                // its name in the program, or the step's that belongs to none ("update.s")
  Seconds measured;                  // of its steps together, without what lies between them
  std::optional<Seconds> predicted;  // by the cost model, the launch included
  std::vector<TracedStep> steps;     // if there are several
  static auto fields() {
    return std::make_tuple(
        field("kernel", &TracedKernel::kernel, "name in the program"),
        field("measured", &TracedKernel::measured, "seconds, median"),
        optional_field("predicted", &TracedKernel::predicted, "seconds by the cost model"),
        optional_field("steps", &TracedKernel::steps, "of which it is the sum, where there are several"));
  }
};

struct KernelTrace {
  std::vector<TracedKernel> kernels;  // in the order of the plan
  std::string note;                   // why there are none
  static auto fields() {
    return std::make_tuple(field("kernels", &KernelTrace::kernels, "in the order of the plan"),
                           optional_field("note", &KernelTrace::note, "why there are none"));
  }
};

// That of a trial's record (Measurement::record); without kernels where none was taken. Error bad_record where it is
// damaged.
Result<KernelTrace> kernel_trace_of(const Json& record);

// "kernel `k1` 12.3 us (predicted 10.1 us), `k2` 30.2 us (predicted 9 us): `k2` is 3.4x beyond its model"; the steps of
// a kernel that has several stand in its brackets. "" where there are no kernels.
std::string text_of(const KernelTrace& trace);

}  // namespace solstice
