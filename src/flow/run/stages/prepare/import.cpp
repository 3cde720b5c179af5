#include "flow/run/stages/prepare/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/process/interrupt.h"
#include "base/time_text.h"
#include "flow/run/problem/adopt.h"
#include "flow/run/problem/original.h"
#include "flow/run/problem/written.h"
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

// Warns of a schedule that is not tried.
Result<Written> read_written(Run& run) {
  SOLSTICE_TRY(Written written, written_problem(run.stored.source, run.options.module.file.string()));
  if (!written.untried.empty())
    run.report.warnings.push_back("the program's own schedule was no trial: " + written.untried);
  return written;
}

// How far the program's equations are known to be the module's. Error bad_argument where they are others.
Result<std::string> compare_equations(const Run& run, const Problem& module, const Written& written) {
  const ir::Equivalence found =
      evaluate::same_equations(in_the_names_of(written.problem.program, module), written.problem.tree);
  if (found.verdict != ir::Verdict::kRefuted)
    return same_text(found.verdict) + (found.verdict == ir::Verdict::kProved ? "" : fmt::format(" ({})", found.reason));
  const ModuleOptions& options = run.options.module;
  return fail(Code::bad_argument,
              fmt::format("{} does not compute {}: {}", options.file.string(), options.of.string(), found.reason),
              fmt::format("`solstice import {}` prints what it has to compute", options.of.string()));
}

// `bound`: what the module's own equations came to. Where an operator has none, only the device tells.
Status give_equations(Run& run, const Status& bound, Imported& out) {
  const bool unknown = !bound.ok() && bound.error().code == Code::unsupported_operator && !out.problem.refused;
  if (!bound.ok() && !unknown) return bound;
  SOLSTICE_TRY(Written written, read_written(run));
  const std::string file = run.options.module.file.string();
  SOLSTICE_CHECK(check_interface(out.problem, written.problem.program, file));
  std::string same = fmt::format("{}: {}", same_text(ir::Verdict::kUnknown), unknown ? bound.error().message : "");
  if (!unknown) {
    SOLSTICE_TRY(same, compare_equations(run, out.problem, written));
  }
  take_equations(out.problem, written);
  out.schedule = std::move(written.schedule);
  run.report.warnings.push_back(fmt::format("searched are the equations of {}; {}", file, same));
  run.progress.message(same);
  return success();
}

// The module that was written from the program's own equations.
Result<Imported> import_original(Run& run) {
  Imported out;
  SOLSTICE_CHECK(start_rivals_early(run));
  SOLSTICE_TRY(Written written, read_written(run));
  out.schedule = std::exchange(written.schedule, {});
  Result<Problem> traced = trace_original(*run.engine.oracle, run.original, graph_cache(), std::move(written));
  if (!traced.ok()) return std::move(traced).context("tracing the module that is written from the equations").error();
  out.problem = std::move(*traced);
  out.meaning = std::make_unique<evaluate::Meaning>(out.problem.tree);
  return out;
}

// Once each: a report does not say at which call.
void add_notes(const std::vector<importer::ImportNote>& notes, std::vector<std::string>& warnings) {
  for (const importer::ImportNote& note : notes) {
    if (std::find(warnings.begin(), warnings.end(), note.text) == warnings.end()) warnings.push_back(note.text);
  }
}

Result<Imported> import_anew(Run& run, std::optional<Problem>* refused) {
  Imported out;
  const ModuleOptions& module = run.options.module;
  const std::filesystem::path cache = run.original.empty() ? std::filesystem::path() : graph_cache();
  SOLSTICE_CHECK(start_rivals_early(run));
  // Also of a module that is cut, or is not traced.
  const auto note_mode = [&run](const OracleSubject& subject) {
    if (!subject.mode_note.empty()) run.report.warnings.push_back(subject.mode_note);
  };
  run::OracleClient& oracle = *run.engine.oracle;
  SOLSTICE_TRY(out.problem, refused
                                ? trace_to_cut(oracle, run.original, module.class_name, module.mode, cache, note_mode)
                                : trace_problem(oracle, run.original, module.class_name, module.mode, cache,
                                                importer::ImportForm::kFlat, note_mode));
  add_notes(out.problem.imported.notes, run.report.warnings);
  const Status bound = bind_problem(out.problem);
  if (is_program(module.file)) {
    SOLSTICE_CHECK(give_equations(run, bound, out));
  } else if (!bound.ok()) {
    if (refused) *refused = std::move(out.problem);
    return bound.error();
  }
  out.meaning = std::make_unique<evaluate::Meaning>(out.problem.tree);
  return out;
}

Result<Imported> import_program(Run& run) {
  Imported out;
  const Status done = stage(run, "import", run.options.module.file.filename().string(), [&]() -> Result<std::string> {
    SOLSTICE_TRY(Written written, read_written(run));
    out.problem = std::move(written.problem);
    out.schedule = std::move(written.schedule);
    out.meaning = std::make_unique<evaluate::Meaning>(out.problem.tree);
    return fmt::format("{} equations{}", out.problem.program.equations.size(),
                       out.schedule.empty() ? "" : ", and a schedule");
  });
  SOLSTICE_CHECK(done);
  return out;
}

// Ends Python's work when a time that the user gave is over. The usual one ends nothing: it was not asked for. Stages
// of a module share what its own trace left, and theirs are short.
class ImportLimit {
 public:
  explicit ImportLimit(Run& run) : run_(run), ends_(run.options.search.timed && !run.options.module.part) {
    if (!ends_) return;
    run.engine.oracle->stop_when([this] { return (interrupted() && !run_.tree.best()) || passed(); });
  }
  ~ImportLimit() {
    if (run_.engine.oracle) stop_on_interrupt(run_);
  }
  ImportLimit(const ImportLimit&) = delete;
  ImportLimit& operator=(const ImportLimit&) = delete;

  // The time that counts: without an end, half of the budget is left at least.
  Seconds took() const { return std::min(monotonic_now() - began_, budget() * (ends_ ? 1.0 : 0.5)); }

  // The error of a stopped import.
  Error explained(Error error) const {
    if (error.code != Code::interrupted || interrupted() || !ends_ || !passed()) return error;
    return fail(Code::deadline,
                fmt::format("the budget of {} was used up before PyTorch had traced the module", time_text(budget())),
                fmt::format("give more, for example --budget {:.0f}s; a finished trace is kept, and the next run of "
                            "this module does without",
                            std::max(60.0, 4 * budget().value)));
  }

 private:
  Seconds budget() const { return run_.options.search.budget; }
  bool passed() const { return monotonic_now() - began_ > budget(); }

  Run& run_;
  const Seconds began_ = monotonic_now();
  const bool ends_;
};

}  // namespace

Result<Imported> import_problem(Run& run, std::optional<Problem>* refused) {
  if (lacks_module(run)) return import_program(run);
  std::optional<Imported> out;
  const ImportLimit limit(run);
  Status done = stage(run, "import", run.original.filename().string(), [&]() -> Result<std::string> {
    out = take_prepared(run);
    if (out) return std::string("as the run before prepared it");
    const bool own = is_program(run.options.module.file) && run.options.module.of.empty();
    SOLSTICE_TRY(out, own ? import_original(run) : import_anew(run, refused));
    const Problem& problem = out->problem;
    const std::string& note = problem.subject.mode_note;
    return fmt::format("{} operators, {} equations{}{}", problem.graph.nodes.size(), problem.program.equations.size(),
                       note.empty() ? "" : ", " + note, problem.cached.empty() ? "" : " (graph from the cache)");
  });
  run.imported = limit.took();
  if (!done.ok()) return limit.explained(std::move(done.error()));
  return std::move(*out);
}

evaluate::Setting setting_of(const Run& run, const Opened& opened, const Imported& imported) {
  return {opened.machine, run.options.terms.numerics, run.options.terms.frozen, imported.meaning.get(),
          run.options.candidate};
}

}  // namespace solstice::flow
