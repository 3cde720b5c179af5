#include "flow/run/stages/prepare/compiler.h"

#include "numerics/policy.h"

namespace solstice::flow {
namespace {

Status start_judge(Run& run, Opened& opened, const GpuSideRequest& wanted) {
  EngineParts& engine = run.engine;
  Result<GpuSide> side =
      opened.gpu_side.valid() && wanted.ordinal == 0 ? opened.gpu_side.get() : start_gpu_side(wanted);
  if (!side.ok()) return std::move(side).error();
  engine.judge.reset();  // they use the compiler
  engine.further.clear();
  engine.compiler = std::move(side->compiler);
  engine.judge = std::move(side->judge);
  engine.judge_request = wanted;
  engine.driver = side->driver;
  engine.further = std::move(side->further);
  for (std::string& note : side->notes) run.report.warnings.push_back(std::move(note));
  return success();
}

Status open_judge(Run& run, Opened& opened) {
  EngineParts& engine = run.engine;
  const GpuSideRequest wanted = side_request(run, engine.hello.device.index);
  if (!judge_fits(engine, wanted)) {
    SOLSTICE_CHECK(start_judge(run, opened, wanted));
  } else {
    start_further(engine.further, wanted, *engine.compiler);
  }
  if (!engine.driver.empty()) run.report.versions["driver"] = engine.driver;
  if (const std::optional<numerics::Policy> policy = numerics::policy_from_name(wanted.numerics)) {
    engine.judge->set_policy(*policy);
    for (const FurtherGpu& gpu : engine.further) {
      if (gpu.judge) gpu.judge->set_policy(*policy);
    }
  }
  engine.judge->serve(&engine);
  return engine.judge->adopt_thread();
}

}  // namespace

Status open_compiler(Run& run, Opened& opened) {
  if (opened.gpu) SOLSTICE_CHECK(open_judge(run, opened));
  if (!run.engine.compiler) {
    toolchain::CompilerOptions options;
    options.arch = opened.machine.arch;
    Result<std::unique_ptr<toolchain::Compiler>> compiler = toolchain::Compiler::create(std::move(options));
    if (!compiler.ok()) {
      run.report.warnings.push_back("nothing was compiled: " + compiler.error().sentence());
      return success();
    }
    run.engine.compiler = std::move(compiler).value();
  }
  run.report.versions["compiler"] = run.engine.compiler->toolchain().version;
  return success();
}

}  // namespace solstice::flow
