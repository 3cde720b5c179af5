#include "toolchain/worker.h"

#include <unistd.h>

#include <cerrno>
#include <optional>

#include "base/base64.h"
#include "base/clock.h"
#include "toolchain/nvrtc.h"
#include "toolchain/protocol.h"

namespace solstice::toolchain {
namespace {

// Lines of a descriptor; nothing at its end.
class LineReader {
 public:
  explicit LineReader(int fd) : fd_(fd) {}

  std::optional<std::string> next() {
    for (;;) {
      if (const size_t end = buffer_.find('\n', scanned_); end != std::string::npos) {
        std::string line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        scanned_ = 0;
        return line;
      }
      scanned_ = buffer_.size();
      char chunk[1 << 16];
      const ssize_t got = ::read(fd_, chunk, sizeof chunk);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return std::nullopt;
      buffer_.append(chunk, static_cast<size_t>(got));
    }
  }

 private:
  int fd_;
  std::string buffer_;
  size_t scanned_ = 0;
};

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

class Worker {
 public:
  CompileAnswer answer(const std::string& line) {
    const Seconds start = monotonic_now();
    CompileAnswer answer;
    const Result<Nvrtc::Output> output = compile(line);
    answer.seconds = monotonic_now() - start;
    if (!output.ok()) {
      answer.status = "error";
      answer.log = output.error().text();
      return answer;
    }
    answer.status = output->ok ? "ok" : "failed";
    answer.cubin = base64_encode(output->cubin);
    answer.log = output->log;
    return answer;
  }

 private:
  Result<Nvrtc::Output> compile(const std::string& line) {
    SOLSTICE_TRY(const Json json, parse_json(line));
    SOLSTICE_TRY(const CompileJob job, from_json<CompileJob>(json));
    if (!nvrtc_) {
      SOLSTICE_TRY(nvrtc_, Nvrtc::open(job.nvrtc, job.builtins));
    }
    return nvrtc_->compile(job.file, job.code, job.headers, job.options, job.ptx);
  }

  std::shared_ptr<Nvrtc> nvrtc_;
};

}  // namespace

int compile_worker_main(int in, int out) {
  LineReader lines(in);
  Worker worker;
  while (const std::optional<std::string> line = lines.next()) {
    if (!write_all(out, to_json(worker.answer(*line)).dump() + "\n")) return 1;
  }
  return 0;
}

}  // namespace solstice::toolchain
