// Predicted time of a traced module under PyTorch eager: a roofline and the launches of every operator. A prediction,
// never a measurement: whoever shows it says so.
//
// The time is that of a headline (docs/measuring.md): results of the last kernel, with the host's dispatch hidden
// behind the writes that flush L2 before. It is the larger of what the kernels take on the device and what the host
// takes to launch them, less what is hidden.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "machine/machine.h"
#include "record/graph.h"
#include "record/original.h"

namespace solstice::sol {

struct EagerFlags {
  bool matmul_tf32 = false;
  bool conv_tf32 = true;
};

// Errors: bad_argument where the machine lacks a pipe that a product needs.
Result<PredictedOriginal> predict_original(const Graph& graph, const machine::Machine& machine, EagerFlags flags);

struct CallTime {
  Seconds device, host;
};

// The original with the times of its calls, by node: they add up to those of the original. A call that needs a pipe
// which the machine lacks counts by its bytes.
struct PredictedCalls {
  PredictedOriginal original;
  std::map<std::string, CallTime> calls;
};
PredictedCalls predict_calls(const Graph& graph, const machine::Machine& machine, EagerFlags flags);

// As a headline would find it.
Seconds headline_time(Seconds device, Seconds host, const machine::Machine& machine);

}  // namespace solstice::sol
