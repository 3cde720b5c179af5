#include "base/process/subprocess.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/process/interrupt.h"
#include "base/process/spawn.h"

namespace solstice {
namespace {

// Keeps SIGPIPE from this thread while it writes to a child that may be gone; the program's handler is left alone.
class NoSigpipe {
 public:
  NoSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &old_);
  }
  ~NoSigpipe() {
    const timespec at_once{};
    if (sigismember(&old_, SIGPIPE) == 0) ::sigtimedwait(&pipe_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &old_, nullptr);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  sigset_t pipe_, old_;
};

void close_fd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

// For how long pipes are read on after the child's end: a shell does not wait for the filter that it writes through.
constexpr Seconds kLinger{1};
constexpr Seconds kLook = milliseconds(50);  // interval of checks for its end
constexpr int kBlocks = 16;                  // of read_some(): 1 MiB, the most that a pipe holds (pipe(7))

bool is_readable(int fd) {
  pollfd wanted{fd, POLLIN, 0};
  return fd >= 0 && ::poll(&wanted, 1, 0) > 0;
}

int to_milliseconds(Seconds left) { return static_cast<int>(std::min(left.value, 3600.0) * 1000) + 1; }

}  // namespace

std::string ExitStatus::text() const {
  if (signal != 0) return fmt::format("killed by signal {} ({})", signal, ::strsignal(signal));
  return fmt::format("exited with code {}", code);
}

Result<Subprocess> Subprocess::spawn(const SpawnOptions& options) {
  SOLSTICE_TRY(Spawned spawned, spawn_process(options));
  Subprocess out;
  out.pid_ = spawned.pid;
  end_with_us(out.pid_);
  out.in_ = spawned.in;
  out.out_ = spawned.out;
  out.err_ = spawned.err;
  out.sandbox_ = std::move(spawned.sandbox);
  out.name_ = std::filesystem::path(options.argv[0]).filename().string();
  out.max_line_ = options.max_line;
  return out;
}

Subprocess::Subprocess(Subprocess&& other) noexcept { *this = std::move(other); }

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept {
  if (this == &other) return *this;
  kill();
  pid_ = std::exchange(other.pid_, -1);
  in_ = std::exchange(other.in_, -1);
  out_ = std::exchange(other.out_, -1);
  err_ = std::exchange(other.err_, -1);
  name_ = std::move(other.name_);
  pending_in_ = std::move(other.pending_in_);
  buffer_out_ = std::move(other.buffer_out_);
  tail_err_ = std::move(other.tail_err_);
  scanned_ = other.scanned_;
  max_line_ = other.max_line_;
  keep_err_ = other.keep_err_;
  exit_ = other.exit_;
  lingering_ = other.lingering_;
  sandbox_ = std::move(other.sandbox_);
  return *this;
}

Subprocess::~Subprocess() { kill(); }

bool Subprocess::satisfied(Want want) const {
  switch (want) {
    case Want::kLine:
      return scanned_ < buffer_out_.size();  // scanned_ stops at a newline
    case Want::kWritten:
      return pending_in_.empty();
    case Want::kEnd:
      return pending_in_.empty() && out_ < 0 && err_ < 0;
  }
  return true;
}

void Subprocess::read_some(int& fd, std::string& into, size_t keep) {
  char block[65536];
  const ssize_t n = ::read(fd, block, sizeof block);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) return close_fd(fd);
  into.append(block, static_cast<size_t>(n));
  if (into.size() > keep) into.erase(0, into.size() - keep);
}

void Subprocess::write_some() {
  const NoSigpipe guard;
  const ssize_t n = ::write(in_, pending_in_.data(), pending_in_.size());
  if (n > 0) pending_in_.erase(0, static_cast<size_t>(n));
  if (n < 0 && errno != EAGAIN && errno != EINTR) close_fd(in_);
}

// Without taking note of it: its group lives on.
bool Subprocess::has_ended() const {
  siginfo_t info{};
  if (exit_ || pid_ < 0) return true;
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

// The child has ended, and what it left running has had its time.
bool Subprocess::is_over() {
  if (!lingering_ && has_ended()) lingering_ = Deadline(kLinger);
  return lingering_ && lingering_->passed();
}

// Takes what the pipes hold, and no more.
void Subprocess::let_go() {
  poll();
  close_fd(in_);
  for (int i = 0; i < kBlocks && is_readable(out_); ++i) read_some(out_, buffer_out_, std::string::npos);
  for (int i = 0; i < kBlocks && is_readable(err_); ++i) read_some(err_, tail_err_, keep_err_);
  if (buffer_out_.size() <= max_line_) close_fd(out_);  // else that is the error
  close_fd(err_);
}

// All pipes move together, so that neither side can block the other for good.
Status Subprocess::pump(Want want, const Deadline& deadline) {
  while (true) {
    while (scanned_ < buffer_out_.size() && buffer_out_[scanned_] != '\n') ++scanned_;
    if (satisfied(want)) return success();
    if (want == Want::kLine && out_ < 0) return broken("closed its output");
    if (want != Want::kLine && !pending_in_.empty() && in_ < 0) return broken("closed its input");
    if (buffer_out_.size() > max_line_) return broken(fmt::format("sent more than {} bytes in one piece", max_line_));
    if (want != Want::kLine && is_over()) {
      let_go();
      continue;
    }
    if (deadline.passed()) return fail(Code::deadline, fmt::format("`{}` did not answer in time", name_));
    pollfd fds[3] = {
        {in_, static_cast<short>(pending_in_.empty() ? 0 : POLLOUT), 0}, {out_, POLLIN, 0}, {err_, POLLIN, 0}};
    if (pending_in_.empty()) fds[0].fd = -1;
    const Seconds nap = want == Want::kLine ? deadline.left() : std::min(deadline.left(), kLook);
    if (::poll(fds, 3, to_milliseconds(nap)) < 0 && errno != EINTR) return broken("cannot be polled");
    if (fds[2].revents) read_some(err_, tail_err_, keep_err_);
    if (fds[1].revents) read_some(out_, buffer_out_, std::string::npos);
    if (fds[0].revents) write_some();
  }
}

Error Subprocess::broken(std::string_view what) {
  // A child that closes its pipes is about to exit: a short wait lets the message say how.
  const Result<ExitStatus> exit = wait(Deadline(milliseconds(200)));
  std::string text = fmt::format("`{}` {}", name_, what);
  if (exit.ok()) text += ": it " + (exit->signal ? "was " + exit->text() : exit->text());
  if (const std::string tail = stderr_tail(); !tail.empty()) text += "; it said: " + tail;
  return fail(Code::process_failed, text);
}

Status Subprocess::write(std::string_view bytes, const Deadline& deadline) {
  if (in_ < 0) return broken("has no open input");
  pending_in_ += bytes;
  return pump(Want::kWritten, deadline);
}

Status Subprocess::write_line(std::string_view line, const Deadline& deadline) {
  return write(std::string(line) + "\n", deadline);
}

Result<std::string> Subprocess::read_line(const Deadline& deadline) {
  SOLSTICE_CHECK(pump(Want::kLine, deadline));
  std::string line = buffer_out_.substr(0, scanned_);
  buffer_out_.erase(0, scanned_ + 1);
  scanned_ = 0;
  return line;
}

void Subprocess::close_input() {
  close_fd(in_);
  pending_in_.clear();
}

Status Subprocess::read_all(std::string& out, std::string& err, size_t limit, const Deadline& deadline) {
  keep_err_ = max_line_ = limit;
  SOLSTICE_CHECK(pump(Want::kEnd, deadline));
  out += std::exchange(buffer_out_, {});
  err += tail_err_;
  scanned_ = 0;
  return success();
}

std::optional<ExitStatus> Subprocess::poll() {
  if (exit_ || pid_ < 0) return exit_;
  siginfo_t info{};
  // WNOWAIT: the group is killed while its leader's number cannot have been given to someone else.
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
    return std::nullopt;
  ::kill(-pid_, SIGKILL);
  forget_group(pid_);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  finish(status);
  return exit_;
}

void Subprocess::finish(int status) {
  exit_ = WIFSIGNALED(status) ? ExitStatus{0, WTERMSIG(status)} : ExitStatus{WEXITSTATUS(status), 0};
}

Result<ExitStatus> Subprocess::wait(const Deadline& deadline) {
  double pause = 50e-6;
  while (true) {
    if (const auto exit = poll()) return *exit;
    if (pid_ < 0) return fail(Code::internal, "no process to wait for");
    if (deadline.passed()) return fail(Code::deadline, fmt::format("`{}` did not end in time", name_));
    const timespec nap{0, static_cast<long>(pause * 1e9)};
    ::nanosleep(&nap, nullptr);
    pause = std::min(pause * 2, 5e-3);
  }
}

void Subprocess::kill() {
  if (pid_ >= 0 && !exit_) {
    ::kill(-pid_, SIGKILL);
    forget_group(pid_);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    finish(status);
  }
  close_fd(in_);
  close_fd(out_);
  close_fd(err_);
}

std::string Subprocess::stderr_tail() {
  while (err_ >= 0) {
    pollfd fd{err_, POLLIN, 0};
    if (::poll(&fd, 1, 0) <= 0) break;
    read_some(err_, tail_err_, keep_err_);
  }
  std::string tail = tail_err_;
  while (!tail.empty() && (tail.back() == '\n' || tail.back() == ' ')) tail.pop_back();
  return tail;
}

Result<CommandOutput> run_command(const SpawnOptions& options, Seconds timeout, std::string_view input, size_t limit,
                                  const StopTest& stop) {
  const Seconds begin = monotonic_now();
  const Deadline deadline(timeout);
  SOLSTICE_TRY(Subprocess child, Subprocess::spawn(options));
  if (!input.empty()) {
    // A command may end without reading its input; that is its business.
    const Status written = child.write(input, deadline);
    if (!written.ok() && written.error().code == Code::deadline) return written.error();
  }
  child.close_input();
  CommandOutput out;
  SOLSTICE_CHECK(ask_in_turns(deadline, stop,
                              [&](const Deadline& turn) { return child.read_all(out.out, out.err, limit, turn); }));
  SOLSTICE_TRY(out.exit, child.wait(deadline));
  out.wall = monotonic_now() - begin;
  return out;
}

}  // namespace solstice
