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
}

bool interrupted() { return signalled != 0; }

void ignore_file_size_signal() { std::signal(SIGXFSZ, SIG_IGN); }

}  // namespace solstice
