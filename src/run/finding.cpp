#include "run/finding.h"

namespace solstice::run {

std::optional<Finding> finding_of(const Error& error, bool loading) {
  switch (error.code) {
    case Code::deadline:
      return Finding{Outcome::kHung, error.text()};
    case Code::too_large:
      return Finding{Outcome::kOutOfMemory, error.text()};
    case Code::cuda_error:
      return Finding{loading ? Outcome::kLoadFailed : Outcome::kCrashed, error.text()};
    case Code::process_failed:
      return Finding{Outcome::kCrashed, error.text()};
    case Code::candidate_failed:
      return Finding{Outcome::kCrashed, error.text()};
    case Code::bad_record:
    case Code::bad_json:
    case Code::bad_argument:
    case Code::not_found:
      return Finding{Outcome::kLoadFailed, error.text()};
    default:
      return std::nullopt;
  }
}

}  // namespace solstice::run
