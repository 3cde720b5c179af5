#include "flow/run/stages/prepare/import.h"

#include <fmt/format.h>

#include <utility>

#include "flow/run/stages/prepare/start_rivals.h"

namespace solstice::flow {
namespace {

// Problem and inputs of the run before; nothing where that was of another module.
std::optional<Imported> take_prepared(Run& run) {
  std::optional<Prepared> made = std::exchange(run.engine.prepared, std::nullopt);
  const ModuleOptions& module = run.options.module;
  if (!made || module.file.empty() || made->file != module.file || made->class_name != module.class_name ||
      made->mode != module.mode)
    return std::nullopt;
  run.report.warnings = made->inputs.warnings;
  return Imported{std::move(made->problem), std::move(made->meaning), std::move(made->inputs)};
}

Result<Imported> import_anew(Run& run, std::optional<Problem>* refused) {
  Imported out;
  const ModuleOptions& module = run.options.module;
  const std::filesystem::path cache = module.file.empty() ? std::filesystem::path() : graph_cache();
  SOLSTICE_CHECK(start_rivals_early(run));
  SOLSTICE_TRY(out.problem, trace_problem(*run.engine.oracle, module.file, module.class_name, module.mode, cache));
  // Also of a module that is cut.
  if (!out.problem.subject.mode_note.empty()) run.report.warnings.push_back(out.problem.subject.mode_note);
  for (const importer::ImportNote& note : out.problem.imported.notes) run.report.warnings.push_back(note.text);
  if (const Status bound = bind_problem(out.problem); !bound.ok()) {
    if (refused) *refused = std::move(out.problem);
    return bound.error();
  }
  out.meaning = std::make_unique<evaluate::Meaning>(out.problem.tree);
  return out;
}

}  // namespace

Result<Imported> import_problem(Run& run, std::optional<Problem>* refused) {
  std::optional<Imported> out;
  const Status done = stage(run, "import", run.options.module.file.filename().string(), [&]() -> Result<std::string> {
    out = take_prepared(run);
    if (out) return std::string("as the run before prepared it");
    SOLSTICE_TRY(out, import_anew(run, refused));
    const Problem& problem = out->problem;
    const std::string& note = problem.subject.mode_note;
    return fmt::format("{} operators, {} equations{}{}", problem.graph.nodes.size(), problem.program.equations.size(),
                       note.empty() ? "" : ", " + note, problem.cached.empty() ? "" : " (graph from the cache)");
  });
  SOLSTICE_CHECK(done);
  return std::move(*out);
}

evaluate::Setting setting_of(const Run& run, const Opened& opened, const Imported& imported) {
  return {opened.machine, run.options.terms.numerics, run.options.terms.frozen, imported.meaning.get(),
          run.options.candidate};
}

}  // namespace solstice::flow
