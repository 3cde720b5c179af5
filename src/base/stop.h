// A question that long work asks between its parts, several times a second; true: it ends there, with what it has by
// then. Whoever starts the work makes it of Ctrl-C (base/process/interrupt.h), a budget of seconds, or both.
#pragma once

#include <functional>

namespace solstice {

using StopTest = std::function<bool()>;  // may be empty: the work goes on

inline bool is_asked(const StopTest& stop) { return stop && stop(); }

}  // namespace solstice
