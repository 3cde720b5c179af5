#include "run/runner_process.h"

#include <fmt/format.h>
#include <signal.h>

#include <cstdlib>

#include "base/process/process_tree.h"
#include "run/finding.h"

namespace solstice::run {
namespace {

// Beyond the runner's own deadline: for the reply to arrive.
constexpr Seconds kGrace{5};
constexpr size_t kLongestReply = size_t{8} << 20;

// The runner sees only what the driver reads.
std::map<std::string, std::string> environment() {
  std::map<std::string, std::string> out;
  for (const char* name :
       {"PATH", "HOME", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES"}) {
    if (const char* value = std::getenv(name)) out[name] = value;
  }
  out["CUDA_MODULE_LOADING"] = "LAZY";
  return out;
}

Error as_error(const Json& reply) {
  for (const Code code : all_codes()) {
    if (name_of(code) == reply.at("code").as_string()) return fail(code, reply.at("message").as_string());
  }
  return fail(Code::process_failed, "the runner answered with an unknown error: " + reply.dump().substr(0, 200));
}

// With a candidate in it the runner is not trusted: it may not claim an error that would end more than this trial.
Error of_the_candidate(Error error) {
  if (finding_of(error, false)) return error;
  return fail(Code::process_failed, fmt::format("the runner reported `{}`, which is not a candidate's error: {}",
                                                name_of(error.code), error.message.substr(0, 200)));
}

}  // namespace

Result<RunnerProcess> RunnerProcess::spawn(const RunnerOptions& options) {
  SpawnOptions spawn;
  spawn.environment = environment();
  if (options.profiler) {
    spawn.argv = options.profiler->command;
    spawn.environment["TMPDIR"] = options.profiler->folder.string();
  }
  spawn.argv.insert(spawn.argv.end(), {options.program.string(), "--device", std::to_string(options.device)});
  if (!options.cupti.empty()) spawn.argv.insert(spawn.argv.end(), {"--cupti", options.cupti});
  if (options.profiler) spawn.argv.insert(spawn.argv.end(), {"--profile", options.profiler->folder.string()});
  spawn.clear_environment = true;
  spawn.max_line = kLongestReply;
  SOLSTICE_TRY(Subprocess process, Subprocess::spawn(spawn));
  return RunnerProcess(std::move(process), options);
}

// A profiler's own lines may come in between.
Result<std::string> RunnerProcess::read_reply(const Deadline& deadline) {
  while (true) {
    SOLSTICE_TRY(std::string line, process_.read_line(deadline));
    if (!options_.profiler || line.substr(0, 2) != "==") return line;
  }
}

Result<Json> RunnerProcess::ask(const char* request, Json params, Seconds limit) {
  loaded_ |= std::string_view(request) == "load";
  const Deadline deadline(limit);
  const int64_t id = ++last_id_;
  const Json message = Json::object().set("id", id).set("request", request).set("params", std::move(params));
  Result<std::string> line = fail(Code::internal, "");
  const Status written = process_.write_line(message.dump(), deadline);
  line = written.ok() ? read_reply(deadline) : Result<std::string>(written.error());
  if (!line.ok()) {
    end_all();
    return std::move(line).context(fmt::format("waiting for the runner's `{}`", request)).error();
  }
  SOLSTICE_TRY(const Json reply, parse_json(*line));
  if (reply.at("id").as_int(-1) != id) {
    end_all();
    return fail(Code::process_failed, "the runner answered another request than it was asked");
  }
  if (reply.find("error")) {
    Error error = as_error(reply.at("error"));
    return loaded_ ? of_the_candidate(std::move(error)) : error;
  }
  return reply.at("result");
}

template <typename Reply, typename Request>
Result<Reply> RunnerProcess::call(const char* name, const Request& request, Seconds limit) {
  SOLSTICE_TRY(const Json reply, ask(name, to_json(request), limit));
  return from_json<Reply>(reply);
}

Result<RunnerHello> RunnerProcess::hello() {
  if (hello_) return *hello_;
  SOLSTICE_TRY(const Json reply, ask("hello", Json::object(), options_.start_limit));
  SOLSTICE_TRY(hello_, from_json<RunnerHello>(reply));
  return *hello_;
}

void RunnerProcess::end_soon() {
  if (process_.running()) ::kill(-process_.pid(), SIGKILL);
}

// A profiler may put its child into a process group of its own.
void RunnerProcess::end_all() {
  const std::vector<pid_t> others = process_.running() ? descendants_of(process_.pid()) : std::vector<pid_t>();
  process_.kill();
  for (const pid_t other : others) ::kill(other, SIGKILL);
}

Result<RunnerEnd> RunnerProcess::finish(Seconds limit) {
  const Deadline deadline(limit);
  std::string out;
  RunnerEnd end;
  process_.close_input();
  const Status read = process_.read_all(out, end.said, kLongestReply, deadline);
  const Result<ExitStatus> exit = read.ok() ? process_.wait(deadline) : Result<ExitStatus>(read.error());
  if (!exit.ok()) {
    end_all();
    return exit.error();
  }
  end.exit = *exit;
  return end;
}

Result<RunnerLoaded> RunnerProcess::load(const RunnerLoad& request) {
  return call<RunnerLoaded>("load", request, options_.load_limit);
}
Result<RunnerDone> RunnerProcess::prepare(const RunnerWork& request) {
  return call<RunnerDone>("prepare", request, request.deadline + kGrace);
}
Result<RunnerDone> RunnerProcess::run(const RunnerWork& request) {
  return call<RunnerDone>("run", request, request.deadline + kGrace);
}
Result<RunnerTimes> RunnerProcess::time(const RunnerTime& request) {
  return call<RunnerTimes>("time", request, request.deadline + kGrace);
}

}  // namespace solstice::run
