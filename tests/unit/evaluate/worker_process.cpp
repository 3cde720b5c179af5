// The compiler re-executes the running program as its worker; here that is this test.
#include <unistd.h>

#include <string_view>

#include "toolchain/worker.h"

__attribute__((constructor)) static void become_worker(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--compile-worker")
    _exit(solstice::toolchain::compile_worker_main(0, 1));
}
