#include "run/oracle_transport.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "base/paths.h"
#include "base/process/subprocess.h"

namespace solstice::run {
namespace {

constexpr size_t kMaxLine = size_t{256} << 20;  // a graph with inlined constants stays far below

class WorkerTransport final : public OracleTransport {
 public:
  explicit WorkerTransport(Subprocess worker) : worker_(std::move(worker)) {}
  Status write_line(std::string_view line, const Deadline& deadline) override {
    return worker_.write_line(line, deadline);
  }
  Result<std::string> read_line(const Deadline& deadline) override { return worker_.read_line(deadline); }
  void abandon() override { worker_.kill(); }

 private:
  Subprocess worker_;
};

class DescriptorTransport final : public OracleTransport {
 public:
  explicit DescriptorTransport(int fd) : fd_(fd) {}
  ~DescriptorTransport() override { abandon(); }

  Status write_line(std::string_view line, const Deadline& deadline) override {
    std::string bytes(line);
    bytes += '\n';
    for (size_t done = 0; done < bytes.size();) {
      SOLSTICE_CHECK(ready(POLLOUT, deadline));
      const ssize_t n = ::send(fd_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0 && errno != EAGAIN && errno != EINTR) return gone(std::strerror(errno));
      done += static_cast<size_t>(std::max<ssize_t>(n, 0));
    }
    return success();
  }

  Result<std::string> read_line(const Deadline& deadline) override {
    size_t scanned = 0;
    while (true) {
      const size_t end = buffer_.find('\n', scanned);
      if (end != std::string::npos) {
        std::string line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return line;
      }
      scanned = buffer_.size();
      if (scanned > kMaxLine) return gone("it sent a line without an end");
      SOLSTICE_CHECK(ready(POLLIN, deadline));
      SOLSTICE_CHECK(fill());
    }
  }

  void abandon() override {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  static Error gone(std::string_view why) {
    return fail(Code::process_failed, fmt::format("the Python process that holds the module is gone: {}", why));
  }

  Status ready(short what, const Deadline& deadline) const {
    if (fd_ < 0) return gone("it was abandoned after an earlier failure");
    pollfd poll_fd{fd_, what, 0};
    const int wait_ms = static_cast<int>(std::min(deadline.left().value, 3600.0) * 1000) + 1;
    const int n = ::poll(&poll_fd, 1, wait_ms);
    if (n == 0) return fail(Code::deadline, "the Python process that holds the module did not answer in time");
    if (n < 0 && errno != EINTR) return gone(std::strerror(errno));
    return success();
  }

  Status fill() {
    char block[65536];
    const ssize_t n = ::recv(fd_, block, sizeof block, MSG_DONTWAIT);
    if (n == 0) return gone("it closed the connection");
    if (n < 0 && errno != EAGAIN && errno != EINTR) return gone(std::strerror(errno));
    if (n > 0) buffer_.append(block, static_cast<size_t>(n));
    return success();
  }

  int fd_;
  std::string buffer_;
};

}  // namespace

Result<std::unique_ptr<OracleTransport>> worker_transport(std::string_view device, bool warm) {
  SOLSTICE_TRY(const auto python, python_path());
  SpawnOptions options;
  options.argv = {python.string(), "-m", "solstice.worker", "--device", std::string(device)};
  if (warm) options.argv.emplace_back("--warm");
  SOLSTICE_TRY(options.environment, python_environment());
  options.max_line = kMaxLine;
  options.ends_with_thread = true;  // while it runs the user's code it does not look at its input
  SOLSTICE_TRY(Subprocess worker, Subprocess::spawn(options));
  return std::unique_ptr<OracleTransport>(std::make_unique<WorkerTransport>(std::move(worker)));
}

std::unique_ptr<OracleTransport> descriptor_transport(int fd) { return std::make_unique<DescriptorTransport>(fd); }

}  // namespace solstice::run
