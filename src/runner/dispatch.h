// The runner's end of the protocol (record/runner_messages.h): one line in, one line out. Garbage gets an error reply,
// never a crash.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/process/sandbox.h"
#include "runner/gpu_session.h"

namespace solstice::runner {

struct RunnerOptions {
  int device = 0;
  std::string cupti = {};    // library; empty: the usual places
  std::string profile = {};  // a profiler's folder; empty: there is none
};

class Dispatcher {
 public:
  Dispatcher(RunnerOptions options, SandboxReport sandbox)
      : options_(std::move(options)), sandbox_(std::move(sandbox)) {}

  // Opens the driver and the GPU; until that has worked every request is answered with its error.
  void open();

  std::string answer(std::string_view line);
  bool lost() const { return lost_; }  // the process must end: its CUDA context is unusable or busy for good

 private:
  Result<Json> handle(const std::string& request, const Json& params);
  Result<RunnerHello> hello();
  Json error_reply(const Error& error);

  RunnerOptions options_;
  SandboxReport sandbox_;
  const rt::Driver* driver_ = nullptr;
  std::unique_ptr<GpuSession> gpu_;
  std::optional<Error> not_open_;
  std::string cupti_note_;
  bool lost_ = false;
};

}  // namespace solstice::runner
