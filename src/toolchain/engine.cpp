// The two ways to run a compile: a persistent NVRTC worker, or one nvcc a job. Both sandboxed: no network, no files but
// the compiler's own and CUDA's headers.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/base64.h"
#include "base/file.h"
#include "base/log.h"
#include "base/paths.h"
#include "toolchain/pool.h"

namespace solstice::toolchain {
namespace {

namespace fs = std::filesystem;

SandboxPolicy base_policy(const CompilerOptions& options, const Toolchain& toolchain) {
  SandboxPolicy policy;
  policy.readable = {"/lib",          "/lib64",           "/usr/lib",
                     "/usr/lib64",    "/etc/ld.so.cache", "/proc/self",
                     "/proc/cpuinfo", "/proc/meminfo",    "/sys/devices/system/cpu"};
  policy.devices = {"/dev/null", "/dev/zero", "/dev/urandom"};
  policy.readable.insert(policy.readable.end(), toolchain.include_folders.begin(), toolchain.include_folders.end());
  policy.limits.address_space = static_cast<uint64_t>(options.worker_memory.value);
  policy.limits.file_size = uint64_t{1} << 30;
  policy.limits.core_size = 0;
  return policy;
}

// The environment may hold secrets, and compilers need little of it.
std::map<std::string, std::string> bare_environment(const fs::path& scratch) {
  return {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"LC_ALL", "C"}, {"TMPDIR", scratch.string()}};
}

// The sandbox may be incomplete on this kernel; that is said once, or refused where it was demanded.
Status judge(const SandboxReport& report, const CompilerOptions& options) {
  if (options.require_sandbox) return require_all(report);
  static std::once_flag once;
  if (!report.complete()) {
    std::call_once(once, [&] { log_warning("compile processes run in an incomplete sandbox", report.json()); });
  }
  return success();
}

bool killed_for_time(const Error& error) { return error.code == Code::deadline; }
bool child_died(const Error& error) { return error.code == Code::process_failed; }

class WorkerEngine : public Engine {
 public:
  WorkerEngine(const CompilerOptions& options, const Toolchain& toolchain) : options_(options), toolchain_(toolchain) {}

  Result<RawOutput> run(const CompileJob& job, Seconds limit) override {
    SOLSTICE_CHECK(start());
    const Seconds begin = monotonic_now();
    Result<RawOutput> output = ask(job, Deadline(limit));
    if (output.ok()) return output;
    // Whatever went wrong on the pipe, this worker cannot be trusted with another line.
    worker_.reset();
    if (!killed_for_time(output.error()) && !child_died(output.error())) return output;
    RawOutput failed;
    failed.outcome = killed_for_time(output.error()) ? Outcome::kTimedOut : Outcome::kCrashed;
    failed.log = output.error().text();
    failed.seconds = monotonic_now() - begin;
    return failed;
  }

  Result<SandboxReport> start() override {
    if (worker_ && worker_->running()) return worker_->sandbox();
    if (!scratch_) {
      SOLSTICE_TRY(TempFolder folder, TempFolder::create("solstice-jit-"));
      scratch_.emplace(std::move(folder));
    }
    SpawnOptions spawn;
    SOLSTICE_TRY(const fs::path self, executable_path());
    spawn.argv = options_.worker_argv;
    if (spawn.argv.empty()) spawn.argv = {self.string(), "--compile-worker"};
    spawn.folder = scratch_->path();
    spawn.clear_environment = true;
    spawn.environment = bare_environment(scratch_->path());
    spawn.sandbox = base_policy(options_, toolchain_);
    spawn.sandbox->allow_processes = false;
    for (const fs::path& file : {fs::path(spawn.argv[0]), toolchain_.nvrtc.parent_path(), scratch_->path()}) {
      spawn.sandbox->readable.push_back(real(file));
    }
    SOLSTICE_TRY(Subprocess worker, Subprocess::spawn(spawn));
    worker_.emplace(std::move(worker));
    SOLSTICE_CHECK(judge(worker_->sandbox(), options_));
    return worker_->sandbox();
  }

 private:
  static fs::path real(const fs::path& file) {
    std::error_code error;
    const fs::path found = fs::canonical(file, error);
    return error ? file : found;
  }

  Result<RawOutput> ask(const CompileJob& job, const Deadline& deadline) {
    SOLSTICE_CHECK(worker_->write_line(to_json(job).dump(), deadline));
    SOLSTICE_TRY(const std::string line, ask_in_turns(
                                             deadline, [this] { return stopped(); },
                                             [this](const Deadline& turn) { return worker_->read_line(turn); }));
    SOLSTICE_TRY(const Json json, parse_json(line));
    SOLSTICE_TRY(const CompileAnswer answer, from_json<CompileAnswer>(json));
    if (answer.status == "error") return fail(Code::no_compiler, answer.log);
    RawOutput output;
    output.outcome = answer.status == "ok" ? Outcome::kOk : Outcome::kFailed;
    SOLSTICE_TRY(output.cubin, base64_decode(answer.cubin));
    output.log = answer.log;
    output.seconds = answer.seconds;
    return output;
  }

  const CompilerOptions& options_;
  const Toolchain& toolchain_;
  std::optional<TempFolder> scratch_;
  std::optional<Subprocess> worker_;
};

class NvccEngine : public Engine {
 public:
  NvccEngine(const CompilerOptions& options, const Toolchain& toolchain) : options_(options), toolchain_(toolchain) {}

  Result<RawOutput> run(const CompileJob& job, Seconds limit) override {
    SOLSTICE_TRY(const TempFolder folder, TempFolder::create("solstice-nvcc-"));
    for (const auto& [name, text] : job.headers) {
      SOLSTICE_CHECK(write_file(folder.path() / "include" / name, text));
    }
    const std::string source = job.name + ".cu";
    SOLSTICE_CHECK(write_file(folder.path() / source, fmt::format("#line 1 \"{}\"\n{}", job.file, job.code)));
    SpawnOptions spawn = command(
        {toolchain_.nvcc.string(), job.ptx ? "-ptx" : "-cubin", "-o", "out.cubin", source, "-Iinclude"}, folder);
    spawn.argv.insert(spawn.argv.end(), job.options.begin(), job.options.end());
    constexpr size_t kMostOutput = size_t{64} << 20;
    const Result<CommandOutput> done = run_command(spawn, limit, {}, kMostOutput, [this] { return stopped(); });
    RawOutput output;
    if (!done.ok()) {
      if (!killed_for_time(done.error())) return done.error();
      output.outcome = Outcome::kTimedOut;
      output.log = done.error().text();
      output.seconds = limit;
      return output;
    }
    output.log = done->out + done->err;
    output.seconds = done->wall;
    output.outcome = done->exit.ok() ? Outcome::kOk : done->exit.signal ? Outcome::kCrashed : Outcome::kFailed;
    if (done->exit.ok()) {
      SOLSTICE_TRY(output.cubin, read_file(folder.path() / "out.cubin"));
    }
    return output;
  }

  Result<SandboxReport> start() override {
    SOLSTICE_TRY(const TempFolder folder, TempFolder::create("solstice-nvcc-"));
    SOLSTICE_TRY(Subprocess probe, Subprocess::spawn(command({toolchain_.nvcc.string(), "--version"}, folder)));
    SOLSTICE_CHECK(judge(probe.sandbox(), options_));
    return probe.sandbox();
  }

 private:
  // nvcc runs the host's preprocessor and its own programs.
  SpawnOptions command(std::vector<std::string> argv, const TempFolder& folder) const {
    SpawnOptions spawn;
    spawn.argv = std::move(argv);
    spawn.folder = folder.path();
    spawn.in = Pipe::kNull;
    spawn.clear_environment = true;
    spawn.environment = bare_environment(folder.path());
    spawn.sandbox = base_policy(options_, toolchain_);
    for (const char* system : {"/usr", "/bin", "/etc/alternatives"}) spawn.sandbox->readable.emplace_back(system);
    spawn.sandbox->readable.push_back(toolchain_.nvcc.parent_path().parent_path());
    spawn.sandbox->writable = {folder.path()};
    return spawn;
  }

  const CompilerOptions& options_;
  const Toolchain& toolchain_;
};

}  // namespace

std::unique_ptr<Engine> make_worker_engine(const CompilerOptions& options, const Toolchain& toolchain) {
  return std::make_unique<WorkerEngine>(options, toolchain);
}

std::unique_ptr<Engine> make_nvcc_engine(const CompilerOptions& options, const Toolchain& toolchain) {
  return std::make_unique<NvccEngine>(options, toolchain);
}

}  // namespace solstice::toolchain
