// solstice-runner: the untrusted process. It sandboxes itself, opens the GPU, and then runs plans for the judge that
// started it. Usage: solstice-runner [--device N] [--cupti LIBRARY] [--profile FOLDER]; it speaks the protocol of
// record/runner_messages.h and ends when its input ends.
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#include "runner/dispatch.h"
#include "runner/runner_sandbox.h"

namespace {

using namespace solstice;

// Exit codes besides those of base/result.h.
constexpr int kContextLost = 75;

Result<runner::RunnerOptions> parse(int argc, char** argv) {
  runner::RunnerOptions out;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 >= argc) return fail(Code::bad_argument, "`" + name + "` needs a value");
    if (name == "--device") {
      out.device = std::atoi(argv[i + 1]);
    } else if (name == "--cupti") {
      out.cupti = argv[i + 1];
    } else if (name == "--profile") {
      out.profile = argv[i + 1];
    } else {
      return fail(Code::bad_argument, "no option `" + name + "`",
                  "there are --device N, --cupti LIBRARY and --profile FOLDER");
    }
  }
  return out;
}

// The judge may die while this process waits for an endless kernel. Where the input just ended, main() is done long
// before the grace period is over.
void end_with_parent() {
  std::thread([] {
    pollfd input{0, 0, 0};
    while (::poll(&input, 1, -1) < 0 || (input.revents & (POLLHUP | POLLERR)) == 0) {
    }
    constexpr unsigned kGrace = 3;
    ::sleep(kGrace);
    ::_exit(0);
  }).detach();
}

int serve(runner::Dispatcher& dispatcher) {
  for (std::string line; std::getline(std::cin, line);) {
    const std::string reply = dispatcher.answer(line) + "\n";
    if (std::fwrite(reply.data(), 1, reply.size(), stdout) != reply.size() || std::fflush(stdout) != 0) return 1;
    // No destructors: the driver would wait for the lost work.
    if (dispatcher.lost()) ::_exit(kContextLost);
  }
  return 0;
}

int complain(const Error& error) {
  std::fprintf(stderr, "solstice-runner: %s\n", error.text().c_str());
  return exit_code(error.kind());
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse(argc, argv);
  if (!options.ok()) return complain(options.error());
  const auto sandbox = runner::enter_runner_sandbox(options->profile);
  if (!sandbox.ok()) return complain(sandbox.error());
  end_with_parent();
  runner::Dispatcher dispatcher(*options, *sandbox);
  dispatcher.open();
  return serve(dispatcher);
}
