#include "base/interrupt.h"

#include <csignal>

namespace solstice {
namespace {

volatile std::sig_atomic_t signalled = 0;

extern "C" void on_signal(int signal) {
  signalled = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the file size limit is an error to report, not an end
}

bool interrupted() { return signalled != 0; }

}  // namespace solstice
