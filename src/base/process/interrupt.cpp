#include "base/process/interrupt.h"

#include <signal.h>

#include <array>
#include <atomic>
#include <csignal>

namespace solstice {
namespace {

volatile std::sig_atomic_t signalled = 0;

// More children at a time than any command has; one more would outlive a second signal until its input ends.
std::array<std::atomic<pid_t>, 256> groups{};
static_assert(std::atomic<pid_t>::is_always_lock_free);  // a signal handler reads them

extern "C" void on_signal(int signal) {
  if (signalled != 0) {
    for (const std::atomic<pid_t>& group : groups) {
      if (const pid_t leader = group.load(); leader > 0) ::kill(-leader, SIGKILL);
    }
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  signalled = 1;
}

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

bool interrupted() { return signalled != 0; }

void end_with_us(pid_t group) {
  for (std::atomic<pid_t>& place : groups) {
    pid_t none = 0;
    if (place.compare_exchange_strong(none, group)) return;
  }
}

void forget_group(pid_t group) {
  for (std::atomic<pid_t>& place : groups) {
    pid_t expected = group;
    if (place.compare_exchange_strong(expected, 0)) return;
  }
}

void ignore_file_size_signal() { std::signal(SIGXFSZ, SIG_IGN); }

}  // namespace solstice
