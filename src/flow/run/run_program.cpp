#include "flow/run/run_program.h"

#include "base/file.h"
#include "flow/run/state/run.h"

namespace solstice::flow {
namespace {

// The model device needs no module: only a machine, and a compiler where there is one.
Status open_model(Session& state) {
  if (state.options.device == "gpu") {
    return fail(Code::bad_argument,
                "measuring needs inputs: name the module that the program computes with --of FILE.py");
  }
  SOLSTICE_TRY(machine::Machine machine,
               machine::load_machine(state.options.machine.empty() ? "h200" : state.options.machine));
  state.machine.emplace(std::move(machine));
  toolchain::CompilerOptions options;
  options.arch = state.machine->arch;
  Result<std::unique_ptr<toolchain::Compiler>> compiler = toolchain::Compiler::create(std::move(options));
  if (compiler.ok()) {
    state.compiler = std::move(compiler).value();
  } else {
    state.progress.message("nothing is compiled: " + compiler.error().message);
  }
  state.device = std::make_unique<evaluate::ModelDevice>(state.setting(), state.compiler.get());
  return success();
}

Status open_module(Session& state) {
  SOLSTICE_CHECK(start_oracle(state));
  SOLSTICE_CHECK(import_problem(state));
  SOLSTICE_CHECK(compute_bounds(state));
  SOLSTICE_CHECK(bound_rewritten(state));
  SOLSTICE_CHECK(open_compiler(state));
  return open_device(state);
}

}  // namespace

Result<ProgramRun> run_program(const std::string& text, const std::string& name, const OptimizeOptions& options,
                               Progress& progress) {
  Engine engine;
  Session state(options, progress, engine);
  SOLSTICE_TRY(const TempFolder scratch, TempFolder::create("solstice-run-"));
  state.out = options.out.empty() ? scratch.path() : options.out;
  state.fresh = state.out;
  state.text_name = name;
  SOLSTICE_CHECK(options.file.empty() ? open_model(state) : open_module(state));
  const search::Node* node = state.tree.add({.program = text, .reason = "the given program"});
  ProgramRun out;
  SOLSTICE_CHECK(stage(state, "trial", "compile, verify, time", [&]() -> Result<std::string> {
    state.device->start(*node);
    SOLSTICE_TRY(search::Landed landed, state.device->land());
    out.measurement = std::move(*landed.measurement);
    return std::string(enum_name(out.measurement.state));
  }));
  out.predicted = !state.gpu;
  if (state.eager.value > 0) out.original = state.eager;
  if (state.bound_practical.value > 0) out.bound = state.bound_practical;
  return out;
}

}  // namespace solstice::flow
