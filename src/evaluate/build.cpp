#include "evaluate/build.h"

#include <algorithm>

#include "base/file.h"
#include "base/hash.h"

namespace solstice::evaluate {

PendingBuild::PendingBuild(Lowered lowered, toolchain::Compiler& compiler) : lowered_(std::move(lowered)) {
  for (const families::Source& source : lowered_.sources) {
    pending_.push_back(compiler.submit({source.name, source.code, source.options}));
  }
}

Result<Built> PendingBuild::finish() {
  Built built;
  built.ok = true;
  built.plan = std::move(lowered_.plan);
  built.sources = std::move(lowered_.sources);
  for (size_t i = 0; i < pending_.size(); ++i) {
    SOLSTICE_TRY(toolchain::Compiled compiled, pending_[i].get());
    if (!compiled.ok() && built.ok) {
      built.ok = false;
      built.outcome = compiled.outcome;
      built.log = compiled.log;
    }
    if (!compiled.cached) built.compile_time = std::max(built.compile_time, compiled.seconds);
    PlanModule& module = built.plan.modules[i];
    module.cubin = module.name + ".cubin";
    module.source = module.name + ".cu";
    module.hash = hash_hex(compiled.cubin);
    built.compiled.push_back(std::move(compiled));
  }
  return built;
}

Status write_build(const Built& built, const std::filesystem::path& folder) {
  for (size_t i = 0; i < built.plan.modules.size(); ++i) {
    const PlanModule& module = built.plan.modules[i];
    SOLSTICE_CHECK(write_file(folder / module.cubin, built.compiled[i].cubin));
    SOLSTICE_CHECK(write_file(folder / module.source, built.sources[i].code));
  }
  return write_file(folder / "plan.json", to_json(built.plan).dump(1));
}

}  // namespace solstice::evaluate
