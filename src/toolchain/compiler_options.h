// Options of a compiler: architecture, workers, folders and limits.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/units.h"
#include "toolchain/toolchain.h"

namespace solstice::toolchain {

struct CompilerOptions {
  std::string arch = "sm_90a";
  int workers = 0;                 // 0: one a core
  Seconds deadline = Seconds(60);  // of one compile
  std::filesystem::path kernels;   // empty: kernels/ of data_root()
  std::filesystem::path cache;     // empty: jit/ of cache_folder()
  Bytes cache_cap = Bytes(4e9);
  Bytes worker_memory = Bytes(16e9);     // address space of one worker
  bool require_sandbox = false;          // true: a kernel that lacks a part of it is an error
  std::vector<std::string> worker_argv;  // empty: this executable with --compile-worker
  ToolchainOptions toolchain;
};

}  // namespace solstice::toolchain
