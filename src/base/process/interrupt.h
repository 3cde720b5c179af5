// Ctrl-C and SIGTERM as a flag: long loops look at it, stop, and keep what they have. A second signal ends at once,
// with all child processes.
// Only for a command whose loops do look: any other would swallow the first signal.
#pragma once

#include <sys/types.h>

namespace solstice {

void catch_interrupts();  // once, before the command starts
bool interrupted();

// Process groups that the second signal kills, as terminals do not: children lead groups of their own. From any thread;
// a group is forgotten before its leader is reaped, while its number can mean nobody else.
void end_with_us(pid_t group);
void forget_group(pid_t group);

// A write beyond the file size limit becomes an error to report, like a full disk, instead of an end.
void ignore_file_size_signal();

}  // namespace solstice
