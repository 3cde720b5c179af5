// Claims on requests of a mailbox: a file that is there from when it is asked until its reply is taken or given
// up, and is locked by the process that waits. The system unlocks it when that process is killed, and another may take
// the request up again.
#pragma once

#include <filesystem>
#include <optional>

#include "base/result.h"

namespace solstice::llm {

class OpenRequest {
 public:
  // A new one; the file is not there yet. Where the file system has no locks it is never taken up. Error io_error.
  static Result<OpenRequest> create(const std::filesystem::path& file);
  // None where somebody waits, or nobody does any more.
  static std::optional<OpenRequest> take_up(const std::filesystem::path& file);

  OpenRequest(OpenRequest&& other) noexcept;
  OpenRequest& operator=(OpenRequest&& other) = delete;
  ~OpenRequest();  // the file stays
  void close();    // nobody waits any more: the file goes

 private:
  OpenRequest(std::filesystem::path file, int fd) : file_(std::move(file)), fd_(fd) {}
  std::filesystem::path file_;
  int fd_ = -1;
};

}  // namespace solstice::llm
