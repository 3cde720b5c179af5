// Boost.Asio with a limit on every step. Heavy: included by dial.cpp and http.cpp alone.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace solstice::net {

using ErrorCode = boost::system::error_code;

// Interval at which a step looks up from its work.
inline constexpr Seconds kLook = milliseconds(50);

class Steps {
 public:
  Steps(Seconds total, std::function<bool()> cancelled) : total_(total), cancelled_(std::move(cancelled)) {}

  boost::asio::io_context& io() { return io_; }

  // Begins something by `start(handler)` and drives it until it calls back; what it called back with. Ends with the
  // errors interrupted and deadline; then the connection is of no more use.
  template <typename Start>
  Result<ErrorCode> run(std::string_view doing, Seconds most, Start&& start) {
    const Deadline own(most);
    const auto done = std::make_shared<std::optional<ErrorCode>>();  // outlives a step that is given up
    start([done](const ErrorCode& error, auto&&...) { *done = error; });
    io_.restart();
    while (!*done) {
      SOLSTICE_CHECK(still(doing, own, most));
      const double wait = std::min({kLook.value, own.left().value, total_.left().value});
      io_.run_one_for(std::chrono::microseconds(static_cast<int64_t>(wait * 1e6) + 100));
    }
    return **done;
  }

  // Success while there is time left and nobody stopped us.
  Status still(std::string_view doing, const Deadline& own, Seconds most) const {
    if (cancelled_ && cancelled_()) return fail(Code::interrupted, fmt::format("stopped while {}", doing));
    if (own.passed()) return fail(Code::deadline, fmt::format("{} took longer than {:.4g} s", doing, most.value));
    if (total_.passed())
      return fail(Code::deadline, fmt::format("{} did not end within the time limit of the request", doing));
    return success();
  }

 private:
  boost::asio::io_context io_;
  Deadline total_;
  std::function<bool()> cancelled_;
};

}  // namespace solstice::net
