#include "flow/run/stages/finals/build_best.h"

#include <fmt/format.h>

#include "base/process/interrupt.h"
#include "evaluate/build.h"

namespace solstice::flow {
namespace {

constexpr const char* kNoDropin = "the problem is a program, and nothing was measured: there is no model_new.py";

// After Ctrl-C a candidate that was compiled in its trial is at hand at once, and no other is waited for.
Result<evaluate::Built> built_of(evaluate::PendingBuild build) {
  constexpr Seconds kLook{0.5};
  while (!build.ready(kLook)) {
    if (interrupted()) return fail(Code::interrupted, "the run was stopped");
  }
  return build.finish();
}

// Why there is no plan; "": it is written.
Result<std::string> write_plan(Run& run, const Opened& opened, const Imported& imported, const std::string& program) {
  Result<evaluate::Lowered> lowered = evaluate::lower_text(program, setting_of(run, opened, imported));
  if (!lowered.ok()) return lowered.error().message;
  const Result<evaluate::Built> built =
      built_of(evaluate::PendingBuild(std::move(*lowered), opened.machine, *run.engine.compiler));
  if (!built.ok()) return built.error().message;
  if (!built->ok) return std::string("its device code does not compile");
  SOLSTICE_CHECK(evaluate::write_build(*built, run.folders.fresh));
  return std::string();
}

}  // namespace

Status build_best(Run& run, const Opened& opened, const Imported& imported) {
  const search::Node* const best = run.tree.best();
  if (!best) return success();
  if (!run.engine.compiler) {
    run.report.warnings.push_back(fmt::format("{}; plan.json needs a compiler", kNoDropin));
    return success();
  }
  return stage(run, "build", "plan and cubins of the best candidate", [&]() -> Result<std::string> {
    SOLSTICE_TRY(const std::string why_not, write_plan(run, opened, imported, best->proposal.program));
    run.report.warnings.push_back(
        why_not.empty() ? fmt::format("{}; plan.json with its cubins is program.ucut, compiled", kNoDropin)
                        : fmt::format("{}; plan.json was not written: {}", kNoDropin, why_not));
    return why_not.empty() ? std::string("plan.json") : "no plan.json: " + why_not;
  });
}

}  // namespace solstice::flow
