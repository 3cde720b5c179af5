// The compile worker: an untrusted process that reads jobs from `in` and writes answers to `out`, a line each, until
// `in` ends. It is this program re-executed (`solstice --compile-worker`) in a sandbox by the Compiler.
#pragma once

namespace solstice::toolchain {

// Returns the process's exit code.
int compile_worker_main(int in, int out);

}  // namespace solstice::toolchain
