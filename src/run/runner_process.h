// The judge's end of the runner's protocol: one untrusted process, typed requests, a deadline on each.
//
// Errors of a request: `deadline` (hung; the process is gone), `cuda_error` and `process_failed` (crashed; gone), and
// other answers of the runner: of `hello` anything (no_driver, no_gpu, ...), from `load` on only codes that finding_of
// (finding.h) counts to the candidate (bad_record, too_large, ...); any other code becomes `process_failed`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/process/subprocess.h"
#include "record/runner_messages.h"

namespace solstice::run {

// A program that starts the runner as its child and reads counters of what it launches (ncu). The child has its own
// standard input and output, so the protocol is as ever; the sandbox is the runner's profile for this.
struct Profiler {
  std::vector<std::string> command;  // program and options, which the runner's command line follows
  std::filesystem::path folder;      // exists; temporary files and the lock of both, which the runner may write
};

struct RunnerOptions {
  std::filesystem::path program = {};  // solstice-runner; Judge finds it where this is empty
  int device = 0;
  std::string cupti = {};  // library; empty: the usual places
  Seconds start_limit{60};
  Seconds load_limit{60};
  std::optional<Profiler> profiler = {};
};

struct RunnerEnd {
  ExitStatus exit;
  std::string said;  // the end of its standard error
};

class RunnerProcess {
 public:
  // Returns at once; the first request waits for the start.
  static Result<RunnerProcess> spawn(const RunnerOptions& options);

  Result<RunnerHello> hello();  // waits until it is ready; afterwards the first answer again
  bool alive() { return process_.running(); }
  void end_soon();  // without waiting for the end
  // Ends its input and waits: a profiler has its results to write. Error deadline: it was ended with all its children.
  Result<RunnerEnd> finish(Seconds limit);
  Result<RunnerLoaded> load(const RunnerLoad& request);
  Result<RunnerDone> prepare(const RunnerWork& request);
  Result<RunnerDone> run(const RunnerWork& request);
  Result<RunnerTimes> time(const RunnerTime& request);

 private:
  RunnerProcess(Subprocess process, RunnerOptions options)
      : process_(std::move(process)), options_(std::move(options)) {}
  void end_all();
  Result<std::string> read_reply(const Deadline& deadline);
  Result<Json> ask(const char* request, Json params, Seconds limit);
  template <typename Reply, typename Request>
  Result<Reply> call(const char* name, const Request& request, Seconds limit);

  Subprocess process_;
  RunnerOptions options_;
  std::optional<RunnerHello> hello_;
  int64_t last_id_ = 0;
  bool loaded_ = false;  // a candidate, or the attempt
};

}  // namespace solstice::run
