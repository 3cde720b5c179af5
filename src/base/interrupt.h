// Ctrl-C and SIGTERM as a flag: long loops look at it, stop, and keep what they have. A second signal ends at once.
// Only for a command whose loops do look: any other would swallow the first signal.
#pragma once

namespace solstice {

void catch_interrupts();  // once, before the command starts
bool interrupted();

// A write beyond the file size limit becomes an error to report, like a full disk, instead of an end.
void ignore_file_size_signal();

}  // namespace solstice
