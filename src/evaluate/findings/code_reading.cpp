#include "evaluate/findings/code_reading.h"

#include <chrono>

#include "base/clock.h"

namespace solstice::evaluate {

CodeReading::CodeReading(const Built& built) {
  read_ = std::async(std::launch::async, [code = code_of(built)] {
            const Seconds began = monotonic_now();
            return Read{read_code(code), monotonic_now() - began};
          }).share();
}

bool CodeReading::done() const {
  return !read_.valid() || read_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace solstice::evaluate
