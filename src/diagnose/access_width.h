// Bytes of global memory that a kernel keeps in flight (Little's law), and what wider accesses can bring.
#pragma once

#include <optional>
#include <string>

#include "diagnose/tool.h"

namespace solstice::diagnose {

struct InFlight {
  double bytes = 0;     // an SM, if a warp has all accesses of one round of its loop under way; 0: not known
  double needed = 0;    // that hide memory's latency at the rate of a copy; 0: not known
  double gain() const;  // if as many were in flight as needed
};
// Bytes an SM that hide memory's latency at the rate of a copy, of the part in this direction; 0: not known.
double needed_in_flight(const KernelView& view, bool store);
// Of the loads or stores of global memory in the code that has most of them.
InFlight in_flight(const KernelView& view, const StepFacts& step, bool store);

struct NarrowAccess {
  MeanAccess found;  // in the code that has most of them
  InFlight flight;
  double by_flight = 1, by_issue = 1;  // gains at most
  double gain() const;
  std::string because() const;
};

// Of the loads or stores in the step's hot code, against accesses of 16 bytes a thread; nothing where there are none,
// or where the mean is wider than `bits`. Of code with bulk copies, which load its data, no loads.
std::optional<NarrowAccess> narrow_access(const KernelView& view, const StepFacts& step, bool store, double bits);

// Of a tool with the thresholds `bits` and `gain`: the kernel's steps whose loads or stores are narrow.
void find_narrow_accesses(const Tool& tool, const KernelView& view, bool store, std::vector<Finding>& out);

}  // namespace solstice::diagnose
