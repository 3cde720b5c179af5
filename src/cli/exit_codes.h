// Exit codes beside those of errors (base/result.h).
#pragma once

namespace solstice::cli {

inline constexpr int kInterruptedCode = 130;  // as a shell reports SIGINT

}  // namespace solstice::cli
