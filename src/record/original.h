// The original's time: predicted from its graph, and measured ones that judge the prediction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/graph.h"

namespace solstice {

// All calls of one operator.
struct OperatorTime {
  std::string op;    // "conv2d"
  std::string kind;  // class under which its error is reported: "convolution"
  int calls = 0;
  int kernels = 0;
  Seconds time = {};            // on the device
  std::string limited_by = {};  // its longest call: memory, tensor cores, CUDA cores, latency
  bool fitted = true;           // false: no original with it was measured
  static auto fields() {
    return std::make_tuple(field("op", &OperatorTime::op, "operator"), field("kind", &OperatorTime::kind, "class"),
                           field("calls", &OperatorTime::calls, "number of calls"),
                           field("kernels", &OperatorTime::kernels, "number of launches"),
                           field("time", &OperatorTime::time, "seconds on the device, predicted"),
                           field("limited_by", &OperatorTime::limited_by, "resource of its longest call"),
                           field("fitted", &OperatorTime::fitted, "false: no original with it was measured"));
  }
};

// Every time is a model's (src/sol/eager).
struct PredictedOriginal {
  Seconds time = {};    // as a headline would find it
  Seconds device = {};  // of its kernels, with the gaps between them
  Seconds host = {};    // dispatch; 0: not known
  int kernels = 0;
  std::vector<OperatorTime> operators = {};  // the longest first
  static auto fields() {
    return std::make_tuple(field("time", &PredictedOriginal::time, "seconds, as a headline would find it"),
                           field("device", &PredictedOriginal::device, "seconds of its kernels"),
                           known_field("host", &PredictedOriginal::host, "seconds of dispatch, null: not known"),
                           field("kernels", &PredictedOriginal::kernels, "launches"),
                           optional_field("operators", &PredictedOriginal::operators, "by operator, longest first"));
  }
};

// A measured original with its graph, a line each (schema solstice.original_time/1).
struct OriginalTime {
  static constexpr const char* kSchema = "solstice.original_time/1";
  std::string problem;
  Graph graph;                      // its calls: without sources, state and structure
  std::string machine;              // description whose ceilings the model takes
  std::string device;               // the GPU's name
  std::string torch;                // version
  std::string date;                 // UTC
  std::string source;               // command, or page with the command
  std::optional<Seconds> measured;  // by PyTorch's default flags
  std::optional<Seconds> tf32;      // products may use TF32
  bool held_out = false;            // no parameter was fitted to it
  static auto fields() {
    return std::make_tuple(field("problem", &OriginalTime::problem, "name"),
                           field("graph", &OriginalTime::graph, "its calls"),
                           field("machine", &OriginalTime::machine, "machine description"),
                           field("device", &OriginalTime::device, "the GPU's name"),
                           field("torch", &OriginalTime::torch, "version"), field("date", &OriginalTime::date, "UTC"),
                           field("source", &OriginalTime::source, "command, or page with the command"),
                           optional_field("measured", &OriginalTime::measured, "seconds by PyTorch's default flags"),
                           optional_field("tf32", &OriginalTime::tf32, "seconds where products may use TF32"),
                           optional_field("held_out", &OriginalTime::held_out, "no parameter was fitted to it"));
  }
};

}  // namespace solstice
