// Exit codes beside those of errors (base/result.h).
#pragma once

#include <optional>

#include "base/result.h"

namespace solstice::cli {

inline constexpr int kInterruptedCode = 130;  // as a shell reports SIGINT

// Of a search, after what ended its language model's part. Reaching the end of what it may spend is no failure.
inline int code_of_search(bool interrupted, const std::optional<Error>& agent_failed) {
  if (interrupted) return kInterruptedCode;
  if (!agent_failed || agent_failed->code == Code::over_budget) return 0;
  return exit_code(agent_failed->kind());
}

}  // namespace solstice::cli
