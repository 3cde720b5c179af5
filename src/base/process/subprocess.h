// Subprocess: a child process with pipes, a deadline on everything, and no leftovers. The child leads its own process
// group; when this object dies the whole group is killed. Only the three standard descriptors are passed on.
//
//   SOLSTICE_TRY(Subprocess worker, Subprocess::spawn({.argv = {path, "--worker"}}));
//   SOLSTICE_CHECK(worker.write_line(request.dump(), Deadline(Seconds(5))));
//   SOLSTICE_TRY(std::string answer, worker.read_line(Deadline(Seconds(60))));
//
// Errors: not_found (no such program), process_failed (died, closed its pipe, broke the line protocol; the message
// holds its exit status and the end of its stderr), deadline, sandbox. Not thread-safe: one thread at a time.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/process/spawn.h"
#include "base/result.h"
#include "base/stop.h"

namespace solstice {

struct ExitStatus {
  int code = 0;    // of exit()
  int signal = 0;  // 0: it exited by itself
  bool ok() const { return code == 0 && signal == 0; }
  std::string text() const;  // "exited with code 3", "killed by signal 11 (Segmentation fault)"
};

class Subprocess {
 public:
  static Result<Subprocess> spawn(const SpawnOptions& options);
  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&& other) noexcept;
  ~Subprocess();  // kills the group

  Status write(std::string_view bytes, const Deadline& deadline);
  Status write_line(std::string_view line, const Deadline& deadline);
  Result<std::string> read_line(const Deadline& deadline);  // without the newline
  void close_input();                                       // input that was not read by then is dropped
  // Reads on until both outputs are closed, or little longer than the child lives: what it leaves running may hold them
  // open. Appends them. After the error deadline it may be called again.
  Status read_all(std::string& out, std::string& err, size_t limit, const Deadline& deadline);

  Result<ExitStatus> wait(const Deadline& deadline);  // of the child itself; afterwards the group is gone
  std::optional<ExitStatus> poll();                   // without waiting
  void kill();
  bool running() { return !poll().has_value(); }

  pid_t pid() const { return pid_; }
  const SandboxReport& sandbox() const { return sandbox_; }
  std::string stderr_tail();  // the end of the child's stderr, at most 16 KiB

 private:
  Subprocess() = default;
  enum class Want { kLine, kWritten, kEnd };
  Status pump(Want want, const Deadline& deadline);
  bool satisfied(Want want) const;
  bool has_ended() const;
  bool is_over();
  void let_go();
  void read_some(int& fd, std::string& into, size_t keep);
  void write_some();
  void finish(int status);
  Error broken(std::string_view what);

  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, err_ = -1;
  std::string name_;
  std::string pending_in_, buffer_out_, tail_err_;
  size_t scanned_ = 0;
  size_t max_line_ = 0;
  size_t keep_err_ = size_t{16} << 10;
  std::optional<ExitStatus> exit_;
  std::optional<Deadline> lingering_;  // from when its end was noticed
  SandboxReport sandbox_;
};

struct CommandOutput {
  ExitStatus exit;
  std::string out;
  std::string err;
  Seconds wall;
};

constexpr Seconds kGlance{0.05};  // between looks whether to go on with what takes longer

// Asks `ask(Deadline)` in turns until it answers, the deadline is over, or `stop` says so: then its error is
// `deadline`.
template <typename Ask>
auto ask_in_turns(const Deadline& deadline, const StopTest& stop, const Ask& ask) {
  for (;;) {
    auto answer = ask(Deadline(std::min(kGlance, deadline.left())));
    const bool waits = !answer.ok() && answer.error().code == Code::deadline;
    if (!waits || deadline.passed() || is_asked(stop)) return answer;
  }
}

// Runs a command to its end, at most to `timeout` or `stop` (error deadline); a non-zero exit is data, not an error.
// Output over `limit` bytes is an error.
Result<CommandOutput> run_command(const SpawnOptions& options, Seconds timeout, std::string_view input = {},
                                  size_t limit = size_t{64} << 20, const StopTest& stop = {});

}  // namespace solstice
