// The time of one scheduled program of a kernel or a few, measured, and by the cost models (schema
// solstice.kernel_time/1). Kept a line each; `solstice list families --fit` judges the cost models by them.
#pragma once

#include <string>

#include "record/fields.h"

namespace solstice {

// The cut of a problem's equations into kernels: by their cost, all in one, an equation each; by their cost after
// their statistics were taken apart.
enum class Cut { kPlanned, kOne, kEach, kApart };
std::vector<const char*> enum_names(Cut);

struct KernelTime {
  static constexpr const char* kSchema = "solstice.kernel_time/1";
  std::string problem;  // "softmax M=8192 N=1024": times of one problem are compared with each other
  Cut cut = Cut::kPlanned;
  std::string program;  // its text, scheduled
  std::string machine;  // description whose ceilings the cost models take
  std::string device;   // the driver's name of the GPU
  std::string version;  // of solstice
  std::string date;     // UTC
  Seconds predicted;    // by the cost models of that version
  Seconds measured;     // median, between events, with a cold L2
  Seconds low, high;    // quartiles
  Seconds empty;        // a kernel that does nothing, measured the same way
  static auto fields() {
    return std::make_tuple(
        field("problem", &KernelTime::problem, "what is computed"),
        field("cut", &KernelTime::cut, "how it was cut into kernels"),
        field("program", &KernelTime::program, "its text, scheduled"),
        field("machine", &KernelTime::machine, "machine description"),
        field("device", &KernelTime::device, "the GPU's name"), field("version", &KernelTime::version, "of solstice"),
        field("date", &KernelTime::date, "UTC"),
        field("predicted", &KernelTime::predicted, "seconds by the cost models then"),
        field("measured", &KernelTime::measured, "seconds, median, cold L2"),
        field("low", &KernelTime::low, "lower quartile"), field("high", &KernelTime::high, "upper quartile"),
        field("empty", &KernelTime::empty, "seconds of a kernel that does nothing"));
  }
};

}  // namespace solstice
