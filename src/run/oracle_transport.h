// Lines to and from the oracle, wherever it lives: a worker process of ours, or the process that started us.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace solstice::run {

class OracleTransport {
 public:
  virtual ~OracleTransport() = default;
  virtual Status write_line(std::string_view line, const Deadline& deadline) = 0;
  virtual Result<std::string> read_line(const Deadline& deadline) = 0;  // without the newline
  virtual void abandon() = 0;  // after a deadline: what comes later would answer an earlier question
};

// Starts `python -m solstice.worker --device DEVICE`, with `--warm` where many modules will be traced. Errors
// no_python, not_found, process_failed. The worker ends with the thread that calls this.
Result<std::unique_ptr<OracleTransport>> worker_transport(std::string_view device, bool warm);

// A connected socket or pipe pair in one descriptor, as `--oracle-fd` hands it over; owned from here on.
std::unique_ptr<OracleTransport> descriptor_transport(int fd);

}  // namespace solstice::run
