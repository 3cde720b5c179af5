// solstice --compile-worker: what the compiler starts, sandboxed; nobody else does.
#include <unistd.h>

#include "cli/command.h"
#include "toolchain/worker.h"

namespace solstice::cli {

extern const Command solstice_commands_compile_worker;
const Command solstice_commands_compile_worker = {
    .name = "--compile-worker",
    .summary = "",
    .help = "",
    .example = "",
    .parameters = {},
    .run = [](const Invocation&) -> Result<int> { return toolchain::compile_worker_main(STDIN_FILENO, STDOUT_FILENO); },
    .hidden = true,
};

}  // namespace solstice::cli
