// The fork and exec behind Subprocess.
#pragma once

#include <sys/types.h>

#include "base/process/subprocess.h"
#include "base/result.h"

namespace solstice {

struct Spawned {
  pid_t pid = -1;
  int in = -1, out = -1, err = -1;  // the parent's ends; -1 where not piped
  SandboxReport sandbox;
};

Result<Spawned> spawn_process(const SpawnOptions& options);

}  // namespace solstice
