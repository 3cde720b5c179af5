// Ctrl-C and SIGTERM as a flag: long loops look at it, stop, and keep what they have. A second signal ends at once.
// Also ignores SIGXFSZ, so that a full quota is an error like a full disk.
#pragma once

namespace solstice {

void catch_interrupts();  // once, in main
bool interrupted();

}  // namespace solstice
