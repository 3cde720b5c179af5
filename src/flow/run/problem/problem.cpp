#include "flow/run/problem/problem.h"

#include <fmt/format.h>

#include <set>

#include "base/hash.h"
#include "base/paths.h"
#include "flow/run/problem/traced_import.h"
#include "ir/bind.h"
#include "ir/opaque.h"
#include "lang/parse.h"

namespace solstice::flow {

std::string unsupported_text(const importer::ImportedProblem& imported) {
  std::set<std::string> seen;
  std::string out;
  for (const importer::UnsupportedOp& op : imported.unsupported) {
    if (!seen.insert(op.op).second) continue;
    const std::string file = std::filesystem::path(op.source.file).filename().string();
    out += fmt::format("{}`{}`{}", out.empty() ? "" : ", ", op.op,
                       file.empty() ? "" : fmt::format(" ({}:{})", file, op.source.line));
  }
  return out;
}

std::string key_of_object(const Problem& problem) { return hash_hex(problem.imported.text); }

std::filesystem::path graph_cache() {
  const Result<std::filesystem::path> folder = cache_folder();
  return folder.ok() ? *folder / "graphs" : std::filesystem::path();
}

namespace {

Status trace_loaded(run::OracleClient& oracle, const std::filesystem::path& file, const std::filesystem::path& cache,
                    importer::ImportForm form, Problem& problem) {
  const Tracer trace = [&](const std::vector<std::string>& decompose) -> Result<Graph> {
    SOLSTICE_TRY(const OracleTrace traced, oracle.trace_cached(cache.string(), decompose));
    problem.cached = traced.cached ? traced.entry : "";
    problem.subject.modules = traced.modules;
    return read_graph(traced.graph);
  };
  Result<TracedImport> found = import_traced(trace, form);
  if (!found.ok()) return of_file(std::move(found.error()), file);
  TracedImport traced = std::move(*found);
  problem.graph = std::move(traced.graph);
  problem.whole = std::move(traced.whole);
  problem.imported = std::move(traced.imported);
  if (traced.refused) problem.refused = of_file(std::move(*traced.refused), file);
  return success();
}

}  // namespace

Result<Problem> trace_problem(run::OracleClient& oracle, const std::filesystem::path& file,
                              const std::string& class_name, const std::string& mode,
                              const std::filesystem::path& cache, importer::ImportForm form, const LoadedNews& loaded) {
  Problem problem;
  SOLSTICE_TRY(problem.subject, oracle.load(file.string(), class_name, mode));
  if (loaded) loaded(problem.subject);
  SOLSTICE_CHECK(trace_loaded(oracle, file, cache, form, problem));
  return problem;
}

Result<Problem> trace_to_cut(run::OracleClient& oracle, const std::filesystem::path& file,
                             const std::string& class_name, const std::string& mode, const std::filesystem::path& cache,
                             const LoadedNews& loaded) {
  Problem problem;
  SOLSTICE_TRY(problem.subject, oracle.load(file.string(), class_name, mode));
  if (loaded) loaded(problem.subject);
  Status traced = trace_loaded(oracle, file, cache, importer::ImportForm::kFlat, problem);
  if (traced.ok()) return problem;
  if (traced.error().code != Code::module_branches) return traced.error();
  Result<Graph> graph = oracle.trace_branches();
  if (!graph.ok()) {
    const Error& why = graph.error();
    if (why.kind() != ErrorKind::kInput || why.code == Code::interrupted) return why;
    Error error = traced.error();
    if (why.message != error.message) error.message += "; " + why.message;
    error.hint = why.hint;
    return error;
  }
  problem.graph = std::move(*graph);
  problem.imported.unsupported = importer::unsupported_calls(problem.graph);
  problem.refused = std::move(traced.error());
  return problem;
}

Status bind_problem(Problem& problem) {
  if (problem.refused) return *problem.refused;
  if (!problem.imported.unsupported.empty()) {
    return fail(Code::unsupported_operator, "no equations for " + unsupported_text(problem.imported),
                ir::kRunByPyTorch);
  }
  if (!problem.imported.draws.empty()) {
    const importer::Draw& draw = problem.imported.draws[0];
    const std::string name = std::filesystem::path(draw.source.file).filename().string();
    const std::string& note = problem.subject.training ? problem.subject.mode_note : "";
    const char* const inference = problem.subject.training ? "--eval traces the module as for inference; " : "";
    return fail(Code::not_yet,
                fmt::format("`{}`{} draws random numbers; kernels that draw are not built yet{}", draw.op,
                            name.empty() ? "" : fmt::format(", {}:{},", name, draw.source.line),
                            note.empty() ? "" : fmt::format(" ({})", note)),
                fmt::format("{}{}", inference, ir::kRunByPyTorch));
  }
  Diagnostics diagnostics;
  problem.tree = lang::parse(problem.imported.text, diagnostics);
  if (!diagnostics.has_errors()) {
    std::optional<ir::Program> bound = ir::bind(problem.tree, diagnostics);
    if (bound) problem.program = std::move(*bound);
  }
  if (diagnostics.has_errors()) {
    return fail(Code::internal, "the imported program does not check; this is a bug of the importer\n" +
                                    render_text(diagnostics, problem.imported.text, "imported.ucut"));
  }
  return success();
}

Result<Problem> load_problem(run::OracleClient& oracle, const std::filesystem::path& file,
                             const std::string& class_name, const std::string& mode, const std::filesystem::path& cache,
                             const LoadedNews& loaded) {
  SOLSTICE_TRY(Problem problem,
               trace_problem(oracle, file, class_name, mode, cache, importer::ImportForm::kFlat, loaded));
  SOLSTICE_CHECK(bind_problem(problem));
  return problem;
}

}  // namespace solstice::flow
