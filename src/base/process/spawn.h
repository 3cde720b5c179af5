// Fork and exec of a child process with its pipes and its sandbox. Subprocess (subprocess.h) owns what comes out.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/process/sandbox.h"
#include "base/result.h"

namespace solstice {

enum class Pipe { kPipe, kNull, kInherit };

struct SpawnOptions {
  std::vector<std::string> argv = {};                   // argv[0] without a slash is looked up in PATH
  std::map<std::string, std::string> environment = {};  // added to (or in place of) the parent's
  bool clear_environment = false;                       // true: `environment` is all there is
  std::filesystem::path folder = {};                    // working folder; empty: the parent's
  Pipe in = Pipe::kPipe;
  Pipe out = Pipe::kPipe;
  Pipe err = Pipe::kPipe;                     // piped: its end is kept for messages
  std::optional<SandboxPolicy> sandbox = {};  // policy.allow_exec must be true: the exec comes after it
  size_t max_line = size_t{64} << 20;         // longer lines break the protocol
  // Killed when the thread that spawned it ends, also where this process is killed: for a thread that lasts as long as
  // the child is wanted. A child that reads its input ends by itself; this is for one that works without looking up.
  bool ends_with_thread = false;
};

struct Spawned {
  pid_t pid = -1;
  int in = -1, out = -1, err = -1;  // the parent's ends; -1 where not piped
  SandboxReport sandbox;
};

Result<Spawned> spawn_process(const SpawnOptions& options);

}  // namespace solstice
