// Identity of the process that a run belongs to, so that a killed one is noticed.
#pragma once

#include <string>

namespace solstice::store {

// The start time of a process in the kernel's clock ticks since boot, with the boot's id: together with the pid it
// names one process for ever. "" where there is no such process.
std::string process_start(int pid);

}  // namespace solstice::store
