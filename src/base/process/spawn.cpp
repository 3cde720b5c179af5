#include "base/process/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/paths.h"

extern char** environ;

namespace solstice {
namespace {

struct Ends {
  int parent = -1;
  int child = -1;
};

// The descriptors of a spawn under way; whatever is still here when it dies is closed.
struct Wires {
  Ends in, out, err, status;
  ~Wires() {
    for (Ends* ends : {&in, &out, &err, &status}) {
      if (ends->parent >= 0) ::close(ends->parent);
      if (ends->child >= 0) ::close(ends->child);
    }
  }
  static int take(int& fd) {
    const int out = fd;
    fd = -1;
    return out;
  }
};

// The child's report on its start, through a pipe that a successful exec closes.
struct StartReport {
  int failed_step = 0;  // 1: folder, 2: exec
  int error = 0;
  PreparedSandbox::Outcome sandbox;
};

Status open_wire(Pipe kind, bool to_child, int inherited, Ends& ends) {
  if (kind == Pipe::kInherit) {
    ends.child = ::fcntl(inherited, F_DUPFD_CLOEXEC, 3);
  } else if (kind == Pipe::kNull) {
    ends.child = ::open("/dev/null", (to_child ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
  } else {
    int fds[2] = {-1, -1};
    if (::pipe2(fds, O_CLOEXEC) == 0) {
      ends.parent = fds[to_child ? 1 : 0];
      ends.child = fds[to_child ? 0 : 1];
      ::fcntl(ends.parent, F_SETFL, O_NONBLOCK);
    }
  }
  if (ends.child >= 0) return success();
  return fail(Code::process_failed, fmt::format("cannot open a pipe to a child process: {}", std::strerror(errno)));
}

std::vector<std::string> environment_of(const SpawnOptions& options) {
  std::vector<std::string> out;
  for (char** entry = environ; !options.clear_environment && entry && *entry; ++entry) {
    const std::string_view text(*entry);
    if (!options.environment.contains(std::string(text.substr(0, text.find('='))))) out.emplace_back(text);
  }
  for (const auto& [key, value] : options.environment) out.push_back(key + "=" + value);
  return out;
}

Result<std::string> program_of(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  SOLSTICE_TRY(const std::filesystem::path found, find_program(name));
  return found.string();
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

struct ChildStart {
  const char* program;
  char* const* argv;
  char* const* envp;
  const char* folder;  // null: stay
  pid_t ends_with;     // 0: nobody
  const PreparedSandbox* sandbox;
};

void say(int fd, const StartReport& report) {
  if (::write(fd, &report, sizeof report) < 0) ::_exit(126);
}

// Between fork and exec only system calls are safe: other threads may hold any lock.
[[noreturn]] void become_child(const ChildStart& start, const Wires& wires) {
  ::setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  // A parent that died before the call is not noticed by it.
  if (start.ends_with != 0 && (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != start.ends_with)) ::_exit(126);
  StartReport report;
  ::dup2(wires.in.child, 0);
  ::dup2(wires.out.child, 1);
  ::dup2(wires.err.child, 2);
  ::syscall(SYS_close_range, 3u, ~0u, 4u);  // CLOSE_RANGE_CLOEXEC: nothing of ours leaks
  if (start.folder && ::chdir(start.folder) != 0) {
    report.failed_step = 1;
    report.error = errno;
    say(wires.status.child, report);
    ::_exit(126);
  }
  if (start.sandbox) {
    report.sandbox = start.sandbox->apply();
    say(wires.status.child, report);
  }
  ::execve(start.program, start.argv, start.envp);
  report.failed_step = 2;
  report.error = errno;
  say(wires.status.child, report);
  ::_exit(127);
}

Result<StartReport> read_start(int fd) {
  StartReport last, next;
  while (true) {
    const ssize_t n = ::read(fd, &next, sizeof next);
    if (n < 0 && errno == EINTR) continue;
    if (n != static_cast<ssize_t>(sizeof next)) return last;
    last = next;
  }
}

Error start_failed(const StartReport& report, const SpawnOptions& options) {
  const std::string what =
      report.failed_step == 1 ? "enter the folder " + options.folder.string() : "start " + options.argv[0];
  return fail(report.error == ENOENT ? Code::not_found : Code::process_failed,
              fmt::format("cannot {}: {}", what, std::strerror(report.error)));
}

Result<pid_t> fork_child(const ChildStart& start, Wires& wires) {
  const pid_t pid = ::fork();
  if (pid == 0) become_child(start, wires);
  if (pid < 0) return fail(Code::process_failed, fmt::format("cannot fork: {}", std::strerror(errno)));
  ::setpgid(pid, pid);  // both sides do it, so that it holds whoever runs first
  for (Ends* ends : {&wires.in, &wires.out, &wires.err, &wires.status}) ::close(Wires::take(ends->child));
  return pid;
}

}  // namespace

Result<Spawned> spawn_process(const SpawnOptions& options) {
  if (options.argv.empty()) return fail(Code::internal, "a subprocess needs an argv");
  if (options.sandbox && !options.sandbox->allow_exec) {
    return fail(Code::internal, "a sandbox without exec can only be entered by the process itself");
  }
  SOLSTICE_TRY(const std::string program, program_of(options.argv[0]));
  std::optional<PreparedSandbox> sandbox;
  if (options.sandbox) {
    SOLSTICE_TRY(PreparedSandbox prepared, PreparedSandbox::prepare(*options.sandbox));
    sandbox.emplace(std::move(prepared));
  }
  Wires wires;
  SOLSTICE_CHECK(open_wire(options.in, true, 0, wires.in));
  SOLSTICE_CHECK(open_wire(options.out, false, 1, wires.out));
  SOLSTICE_CHECK(open_wire(options.err, false, 2, wires.err));
  SOLSTICE_CHECK(open_wire(Pipe::kPipe, false, -1, wires.status));
  ::fcntl(wires.status.parent, F_SETFL, 0);

  std::vector<std::string> arguments = options.argv, environment = environment_of(options);
  const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  const ChildStart start{program.c_str(),
                         argv.data(),
                         envp.data(),
                         options.folder.empty() ? nullptr : options.folder.c_str(),
                         options.ends_with_thread ? ::getpid() : 0,
                         sandbox ? &*sandbox : nullptr};
  SOLSTICE_TRY(const pid_t pid, fork_child(start, wires));
  SOLSTICE_TRY(const StartReport report, read_start(wires.status.parent));
  if (report.failed_step != 0) {
    ::waitpid(pid, nullptr, 0);
    return start_failed(report, options);
  }
  Spawned out{pid, Wires::take(wires.in.parent), Wires::take(wires.out.parent), Wires::take(wires.err.parent), {}};
  if (sandbox) out.sandbox = sandbox->report(report.sandbox);
  return out;
}

}  // namespace solstice
