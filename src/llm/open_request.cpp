#include "llm/open_request.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace solstice::llm {

Result<OpenRequest> OpenRequest::create(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return fail(Code::io_error, fmt::format("cannot make {}: {}", file.string(), std::strerror(errno)));
  // Whoever looks at it now lets go at once: the request itself is not there yet.
  (void)::flock(fd, LOCK_EX);
  return OpenRequest(file, fd);
}

std::optional<OpenRequest> OpenRequest::take_up(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  OpenRequest out(file, fd);
  struct stat found {};
  // Its reply may have been taken between the two calls; then the file has no name any more.
  const bool ours = ::flock(fd, LOCK_EX | LOCK_NB) == 0 && ::fstat(fd, &found) == 0 && found.st_nlink > 0;
  return ours ? std::optional(std::move(out)) : std::nullopt;
}

OpenRequest::OpenRequest(OpenRequest&& other) noexcept
    : file_(std::move(other.file_)), fd_(std::exchange(other.fd_, -1)) {}

OpenRequest::~OpenRequest() {
  if (fd_ >= 0) ::close(fd_);
}

void OpenRequest::close() {
  std::error_code gone;
  std::filesystem::remove(file_, gone);
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

}  // namespace solstice::llm
