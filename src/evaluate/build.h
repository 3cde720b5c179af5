// From a lowered program to cubins: compiles its sources in parallel and completes the plan.
#pragma once

#include <filesystem>
#include <future>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "evaluate/lower.h"
#include "toolchain/compiler.h"

namespace solstice::evaluate {

struct Built {
  bool ok = false;
  std::string log;  // of the first source that did not compile
  toolchain::Outcome outcome = toolchain::Outcome::kOk;
  Plan plan;  // complete: cubin names and hashes are filled in
  std::vector<families::Source> sources;
  std::vector<toolchain::Compiled> compiled;  // in the order of plan.modules
  Seconds compile_time;                       // of the slowest source that was not cached; 0: all were
};

class PendingBuild {
 public:
  // For `machine`, which outlives it.
  PendingBuild(Lowered lowered, const machine::Machine& machine, toolchain::Compiler& compiler);
  // The compiler is done; waits at most so long.
  bool ready(Seconds patience) const;
  // Waits for the compiler. Once. A source that does not compile is data (ok is false); an error means that this
  // machine cannot compile.
  Result<Built> finish();

 private:
  Lowered lowered_;
  const machine::Machine* machine_;
  std::vector<std::shared_future<Result<toolchain::Compiled>>> pending_;
};

// Steps that launch this function, in order: kernels alike share one (evaluate/like_sources.h).
std::vector<std::string> launches_of(const Plan& plan, const std::string& module, const std::string& entry);
// The most bytes that a launch of this function asks for beside its static shared memory.
int64_t dynamic_shared_bytes(const Plan& plan, const std::string& module, const std::string& entry);
// Resources of a module's functions by ptxas, each with its `launches`; `shared_bytes` are static and dynamic together,
// `static_shared_bytes` those that ptxas tells.
Json resources_of(const Built& built, size_t module);

// plan.json, NAME.cubin and NAME.cu of every module.
Status write_build(const Built& built, const std::filesystem::path& folder);

}  // namespace solstice::evaluate
