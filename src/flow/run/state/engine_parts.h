// The processes of an Engine. They outlive a run in a bench. Engines may share compiler and judge, where one run has
// its turn at a time.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evaluate/meaning.h"
#include "flow/run/gpu/gpu_side.h"
#include "flow/run/problem/problem.h"
#include "flow/run/problem/trial_inputs.h"
#include "record/oracle_messages.h"
#include "run/judge.h"
#include "run/oracle_client.h"
#include "toolchain/compiler.h"

namespace solstice::flow {

// A problem that one run made ready, for the next run of the same module under other options.
struct Prepared {
  std::filesystem::path file;
  std::string class_name, mode;
  Problem problem;
  std::unique_ptr<evaluate::Meaning> meaning;
  TrialInputs inputs;
};

struct EngineParts {
  std::optional<run::OracleClient> oracle;
  OracleHello hello;
  std::shared_ptr<toolchain::Compiler> compiler;  // null on a model device without one
  std::shared_ptr<run::Judge> judge;              // null on the model device
  GpuSideRequest judge_request;                   // the request that started the judge
  std::vector<FurtherGpu> further;                // all GPUs but the judge's, in the order of --devices
  std::string driver;                             // its version
  std::optional<Prepared> prepared;
  std::filesystem::path opponents_of;  // a process prepares the opponents of this file's module; "": none does
};

}  // namespace solstice::flow
