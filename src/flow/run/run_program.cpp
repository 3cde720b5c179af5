#include "flow/run/run_program.h"

#include <fmt/format.h>

#include "base/file.h"
#include "evaluate/model_device.h"
#include "flow/run/problem/adopt.h"
#include "flow/run/stages/prepare/compiler.h"
#include "flow/run/stages/prepare/device.h"
#include "flow/run/stages/prepare/plan.h"
#include "flow/run/state/engine.h"
#include "ir/equivalence.h"
#include "ir/rewrite/driver.h"

namespace solstice::flow {
namespace {

Status try_program(Run& run, search::Evaluator& device, const std::string& text, ProgramRun& out) {
  const search::Node* node = run.tree.add({.program = text, .reason = "the given program"});
  return stage(run, "trial", "compile, verify, time", [&]() -> Result<std::string> {
    device.start(*node);
    SOLSTICE_TRY(search::Landed landed, device.land());
    out.measurement = std::move(*landed.measurement);
    const std::string same = same_as_module(out.measurement);
    return fmt::format("{}{}{}", enum_name(out.measurement.state), same.empty() ? "" : "; ", same);
  });
}

// The model device needs no module: only a machine, and a compiler where there is one.
Result<ProgramRun> run_alone(Run& run, const std::string& text) {
  const PlaceOptions& place = run.options.place;
  SOLSTICE_TRY(const machine::Machine machine,
               machine::load_machine(place.machine.empty() ? run.options.predicted_machine : place.machine));
  toolchain::CompilerOptions options;
  options.arch = machine.arch;
  Result<std::unique_ptr<toolchain::Compiler>> compiler = toolchain::Compiler::create(std::move(options));
  if (compiler.ok()) {
    run.engine.compiler = std::move(compiler).value();
  } else {
    run.progress.message("nothing is compiled: " + compiler.error().sentence());
  }
  const CandidateTerms& terms = run.options.terms;
  evaluate::ModelDevice device({machine, terms.numerics, terms.frozen, nullptr, run.options.candidate},
                               run.engine.compiler.get(), run.options.diagnosis);
  ProgramRun out;
  SOLSTICE_CHECK(try_program(run, device, text, out));
  out.predicted = true;
  return out;
}

// The one that the cost models choose.
Result<std::string> chosen_program(Run& run, const Opened& opened, const Imported& imported, Bounds& bounds) {
  SOLSTICE_TRY(const Planned planned, plan_kernels(run, opened, imported, bounds));
  SOLSTICE_TRY(const std::optional<search::Proposal> first, planned.expert->propose(search::Tree(), 0));
  if (!first) return fail(Code::not_found, "the module has no program that can be run");
  return first->program;
}

// A candidate may name the module's tensors as it likes. One with mistakes is told them by its trial.
Status use_names_of(const std::string& text, Imported& imported) {
  const Result<ir::BoundText> given = ir::bound_text(text, "the program");
  if (!given.ok()) return success();
  SOLSTICE_CHECK(take_names(imported.problem, given->program));
  imported.meaning = std::make_unique<evaluate::Meaning>(imported.problem.tree);
  return success();
}

Result<ProgramRun> run_for_module(Run& run, const std::string& text) {
  SOLSTICE_TRY(Opened opened, open_place(run));
  SOLSTICE_TRY(Imported imported, import_problem(run));
  if (!text.empty()) SOLSTICE_CHECK(use_names_of(text, imported));
  SOLSTICE_TRY(Bounds bounds, compute_bounds(run, opened, imported));
  SOLSTICE_CHECK(bound_rewritten(run, opened, imported, bounds));
  SOLSTICE_CHECK(open_compiler(run, opened));
  SOLSTICE_TRY(const std::unique_ptr<Measurable> measurable, open_device(run, opened, imported, bounds));
  ProgramRun out;
  SOLSTICE_TRY(const std::string program, text.empty() ? chosen_program(run, opened, imported, bounds) : text);
  SOLSTICE_CHECK(try_program(run, *measurable->device, program, out));
  out.predicted = !opened.gpu;
  out.original_is = run.report.original;
  if (measurable->inputs.original.time.value > 0) out.original = measurable->inputs.original.time;
  out.predicted_original = run.report.predicted_original;
  if (bounds.practical().value > 0) out.bound = bounds.practical();
  return out;
}

}  // namespace

std::string same_as_module(const search::Measurement& measurement) {
  const Json& meaning = measurement.record.at("meaning");
  if (meaning.as_string().empty()) return "";
  for (const ir::Verdict verdict : {ir::Verdict::kProved, ir::Verdict::kTested, ir::Verdict::kRefuted}) {
    if (meaning.as_string() == ir::name_of(verdict)) return same_text(verdict);
  }
  return same_text(ir::Verdict::kUnknown);
}

Result<ProgramRun> run_program(const std::string& text, const std::string& name, const RunOptions& options,
                               Progress& progress) {
  Engine engine;
  Run run(options, {}, progress, engine.parts());
  SOLSTICE_TRY(const TempFolder scratch, TempFolder::create("solstice-run-"));
  run.folders.out = options.out.empty() ? scratch.path() : options.out;
  run.folders.fresh = run.folders.out;
  run.options.candidate = name;
  if (is_program(options.module.file)) SOLSTICE_CHECK(read_source(options.module, run.stored));
  if (!options.module.file.empty()) return run_for_module(run, text);
  if (options.place.device != "gpu") return run_alone(run, text);
  if (!is_program(name))
    return fail(Code::bad_argument, fmt::format("measuring needs inputs, which {} does not give", name),
                "name the module that the program computes, --of FILE.py, or the program PROGRAM.ucut");
  run.options.module.file = name;
  run.stored.source = text;
  return run_for_module(run, text);
}

}  // namespace solstice::flow
