// OracleClient: typed requests to the trusted Python process that owns the user's module (docs/protocol.md).
//
//   SOLSTICE_TRY(auto oracle, OracleClient::start({.device = "auto"}));
//   SOLSTICE_TRY(OracleSubject subject, oracle.load("model.py"));
//   SOLSTICE_TRY(Graph graph, oracle.trace());
//   SOLSTICE_TRY(OracleInputs inputs, oracle.prepare_inputs("a", {.seed = 1, .family = "normal"}));
//
// Every call waits for its answer, at most as long as `limits` says. Errors: what the oracle answers, under
// this program's codes, with file and line of the user's code where known (module_import, module_trace,
// too_large, ...); deadline and interrupted, after which the oracle is ended and every further call answers
// process_failed; process_failed. Not thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "record/graph.h"
#include "record/oracle_messages.h"
#include "run/oracle_transport.h"

namespace solstice::run {

struct OracleLimits {
  Seconds start{120};  // hello, including the import of PyTorch
  Seconds load{600};   // user code that builds the module
  Seconds trace{900};
  Seconds work{900};  // inputs, oracle, checks, timing
};

struct OracleOptions {
  std::string device = "auto";         // auto, cuda, cpu
  bool warm = false;                   // many modules will be traced: what tracing imports is imported once
  std::optional<int> descriptor = {};  // the caller's process is the oracle (--oracle-fd)
  OracleLimits limits = {};
};

struct InputRequest {
  int64_t seed = 42;
  std::string family = "default";  // docs/protocol.md lists them
  std::string weights = "built";   // built, perturbed
  std::string scaled = {};         // of family `scaled`: input.POSITION or parameter.NAME
  double least = 0;                // how far, normwise, its scale has to move a result
};

struct BlockRequest {
  int reps = 10;
  int warmups = 3;
};

struct CompareRequest {
  int reps = 10;  // a block
  int warmups = 3;
  int blocks = 4;
  std::vector<OracleContender> dropins = {};  // timed in the same blocks
  Seconds deadline{0};                        // for preparing each of them; 0: none
  bool compile_tf32 = false;                  // torch.compile with TF32 allowed too, which compiles once more
};

struct RoundsRequest {
  int reps = 10;  // a block
  int warmups = 3;
  int rounds = 3;  // each original, drop-in, drop-in, original
};

class OracleClient {
 public:
  using Progress = std::function<void(const OracleProgress&)>;

  static Result<OracleClient> start(const OracleOptions& options);
  OracleClient(std::unique_ptr<OracleTransport> transport, OracleLimits limits);

  void on_progress(Progress progress) { progress_ = std::move(progress); }
  // Asked several times a second while an answer is awaited: at true the oracle is ended and the call answers
  // `interrupted`.
  void stop_when(std::function<bool()> stop) { stop_ = std::move(stop); }

  Result<OracleHello> hello();
  // Ends the module that was loaded before. Without a file: the module that the caller's process already
  // holds.
  // `class_name`: what of the file, a class, an instance or a function; `mode`: train, eval, or as it is made.
  Result<OracleSubject> load(std::string_view file = {}, std::string_view class_name = {}, std::string_view mode = {});
  // `decompose` names operators to be broken up ("aten.mish.default"); large constants go to `blob_folder`.
  Result<Graph> trace(const std::vector<std::string>& decompose = {}, std::string_view blob_folder = {});
  // The same by way of a cache in `folder`: the key is all that a trace depends on (docs/protocol.md), and the caller
  // verifies against the live module anyway.
  Result<OracleTrace> trace_cached(std::string_view folder, const std::vector<std::string>& decompose = {});
  // Branches on values as the example inputs take them: no graph of the module in every call. Not cached.
  Result<Graph> trace_branches();
  Result<OracleInputs> prepare_inputs(std::string_view set, const InputRequest& request = {});
  // `describe` false: results stay on the device and `values` is empty.
  Result<OracleExpected> expected(std::string_view set, bool describe = true);
  // The `eager` values of the set `into`, which holds nothing else: PyTorch's own results with TF32 allowed.
  Status run_tf32(std::string_view set, std::string_view into);
  // Elements that errors of the size `error` leave undetermined; `limits`: elementwise, of the values to look at. How
  // far each may lie from the float64 result, negative for all others, is among the `expected` values of the set
  // `into`, for values that have any.
  Result<OracleUndetermined> find_undetermined(std::string_view set, std::string_view into, double error,
                                               const std::map<std::string, double>& limits);
  // Elements of results that are not finite, yet do not depend on the elements of the inputs that are not (0 * NaN).
  // Their values for finite inputs, NaN for all others, are among the `expected` values of the set `into`, for values
  // that have any.
  Result<OracleLeftOut> find_left_out(std::string_view set, std::string_view into);
  Result<OracleTensors> export_ipc(std::string_view set, const std::vector<std::string>& kinds);
  Result<OracleTensors> export_file(std::string_view set, const std::vector<std::string>& kinds, std::string_view path);
  Result<OracleBlock> time_eager(std::string_view set, const BlockRequest& request = {});
  Result<OracleDropinCheck> check_dropin(std::string_view model_new, std::string_view numerics);
  Result<OracleComparison> time_dropin(std::string_view model_new, std::string_view set, std::string_view numerics,
                                       const RoundsRequest& request = {});
  Result<OracleMemory> memory(std::string_view set, std::string_view model_new = {});  // of the original without a path
  // Opponents of the module: eager, eager with TF32, torch.compile. start_rivals() returns at once: where the oracle is
  // a worker, another process imports the compiler and loads the module, and leaves the GPU alone until rivals().
  // If the caller's process is the oracle it does nothing.
  Status start_rivals(std::string_view file, std::string_view class_name, std::string_view mode);
  Result<OracleRivals> rivals(const CompareRequest& request = {});
  // In that process too, so that nothing else of the module's is disturbed.
  Result<OracleFlaws> flaws(Seconds budget);
  Status release_set(std::string_view set);
  Status release(bool keep_opponents = false);  // the module and all it holds
  Status shutdown();

  // False once an answer did not come, or was that a process failed: what it held of the module may be gone.
  bool sound() const { return sound_; }

  // Wall time of all answered requests so far, by name.
  const std::map<std::string, Seconds>& spent() const { return spent_; }

  // Any request; the typed ones above are built on it.
  Result<Json> call(std::string_view request, Json params, Seconds limit);

 private:
  template <typename T>
  Result<T> ask(std::string_view request, Json params, Seconds limit);
  Result<Json> await(int64_t id, const Deadline& deadline);
  Result<std::string> next_line(const Deadline& deadline);

  std::unique_ptr<OracleTransport> transport_;
  OracleLimits limits_;
  Progress progress_;
  std::function<bool()> stop_;
  int64_t last_id_ = 0;
  bool is_new_ = false;  // a Python of ours, from which no line came yet
  bool sound_ = true;
  std::map<std::string, Seconds> spent_;
};

}  // namespace solstice::run
