// A pool of compile processes: jobs wait in a queue, one thread a process takes them. With NVRTC a process is a compile
// worker that lives on from job to job; with nvcc each job starts one. A process that hangs is killed at the deadline,
// one that dies costs the job it had.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/process/subprocess.h"
#include "toolchain/compiled.h"
#include "toolchain/compiler_options.h"
#include "toolchain/protocol.h"

namespace solstice::toolchain {

// Output of the compiler itself, without keys and caches.
struct RawOutput {
  Outcome outcome = Outcome::kFailed;
  std::string cubin;
  std::string log;
  Seconds seconds;
};

// Runs one job to its end; each thread of the pool owns one.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual Result<RawOutput> run(const CompileJob& job, Seconds limit) = 0;
  // Starts what run() would start; what its sandbox enforces.
  virtual Result<SandboxReport> start() = 0;
  // The job that runs, and every later one, ends soon, as one that timed out. From any thread.
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }

 private:
  std::atomic<bool> stopped_ = false;
};

std::unique_ptr<Engine> make_worker_engine(const CompilerOptions& options, const Toolchain& toolchain);
std::unique_ptr<Engine> make_nvcc_engine(const CompilerOptions& options, const Toolchain& toolchain);

class Pool {
 public:
  using Task = std::function<void(Engine&)>;
  Pool(int threads, const std::function<std::unique_ptr<Engine>()>& make_engine);
  ~Pool();  // ends what is being run: nobody waits for it any more; what is queued is dropped
  void post(Task task);

 private:
  void serve(Engine& engine);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> queue_;
  bool stopping_ = false;
  std::vector<std::unique_ptr<Engine>> engines_;
  std::vector<std::jthread> threads_;
};

}  // namespace solstice::toolchain
