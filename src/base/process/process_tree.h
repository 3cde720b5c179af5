// Processes by their parents, as /proc shows them.
#pragma once

#include <sys/types.h>

#include <vector>

namespace solstice {

// All that descend from `root`, parents before their children. A process whose parent has ended belongs to nobody here.
// Empty where /proc is not mounted.
std::vector<pid_t> descendants_of(pid_t root);

}  // namespace solstice
