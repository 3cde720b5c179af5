// Exit codes beside those of errors (base/result.h).
#pragma once

#include <optional>

#include "base/result.h"

namespace solstice::cli {

inline constexpr int kNotFasterCode = 1;      // of `optimize --require-faster`
inline constexpr int kInterruptedCode = 130;  // as a shell reports SIGINT

// Exit code of a search, given the error that ended its language model's part or its policy's. Reaching the end of a
// model's budget is no failure.
inline int code_of_search(bool interrupted, const std::optional<Error>& failed) {
  if (interrupted) return kInterruptedCode;
  if (!failed || failed->code == Code::over_budget) return 0;
  return exit_code(failed->kind());
}

}  // namespace solstice::cli
