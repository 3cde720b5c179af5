// solstice import: a PyTorch module as equations.
#include "import/import.h"

#include <fmt/format.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/named_module.h"
#include "flow/run/problem/problem.h"
#include "ir/opaque.h"
#include "run/oracle_client.h"

namespace solstice::cli {
namespace {

std::string place(const importer::ImportSource& source) {
  if (source.file.empty()) return source.module.empty() ? "" : ", in " + source.module;
  return fmt::format(", {}:{}", source.file, source.line);
}

Json source_json(const importer::ImportSource& source) {
  return Json::object().set("module", source.module).set("file", source.file).set("line", source.line);
}

Json problem_json(const importer::ImportedProblem& problem) {
  Json unsupported = Json::array();
  for (const auto& u : problem.unsupported) {
    unsupported.push(Json::object().set("operator", u.op).set("why", u.why).set("source", source_json(u.source)));
  }
  Json notes = Json::array();
  for (const auto& n : problem.notes)
    notes.push(Json::object().set("text", n.text).set("source", source_json(n.source)));
  return Json::object().set("program", problem.text).set("unsupported", unsupported).set("notes", notes);
}

Result<importer::ImportedProblem> import_file(const flow::ModuleOptions& module, importer::ImportForm form,
                                              bool quiet) {
  SOLSTICE_TRY(run::OracleClient oracle, run::OracleClient::start({.device = "cpu"}));
  SOLSTICE_TRY(flow::Problem problem,
               flow::trace_problem(oracle, module.file, module.class_name, module.mode, flow::graph_cache(), form,
                                   quiet ? flow::LoadedNews() : tell_mode));
  if (problem.refused) return *problem.refused;
  return std::move(problem.imported);
}

Result<int> run_import(const Invocation& in) {
  SOLSTICE_TRY(const flow::ModuleOptions module, named_module(in.get("FILE"), in));
  const auto form = in.has("--flat") ? importer::ImportForm::kFlat : importer::ImportForm::kFolded;
  const bool quiet = in.flag("--quiet");
  SOLSTICE_TRY(const importer::ImportedProblem problem, import_file(module, form, quiet));
  if (in.has("--out")) SOLSTICE_CHECK(write_file(in.get("--out"), problem.text));
  if (in.json()) {
    fmt::print("{}\n", problem_json(problem).dump(2));
  } else if (!in.has("--out")) {
    fmt::print("{}", problem.text);
  }
  for (const auto& note : problem.notes) {
    if (!quiet) fmt::print(stderr, "note: {}{}\n", note.text, place(note.source));
  }
  for (const auto& u : problem.unsupported) {
    fmt::print(stderr, "unsupported: {}{}{}\n", u.op, place(u.source), u.why.empty() ? "" : ": " + u.why);
  }
  if (!problem.unsupported.empty()) fmt::print(stderr, "  hint: {}\n", ir::kRunByPyTorch);
  return problem.unsupported.empty() ? 0 : exit_code(ErrorKind::kInput);
}

}  // namespace

extern const Command solstice_commands_import;
const Command solstice_commands_import = {
    .name = "import",
    .summary = "Print a PyTorch module as a program of equations",
    .help =
        "Traces the module on the CPU and prints its equations. An operator without equations becomes an "
        "`opaque` item and is named on stderr as `unsupported: OPERATOR, FILE:LINE`; the exit code is then 2.",
    .example = "solstice import examples/linear_gelu.py --out problem.ucut",
    .parameters = {{"FILE", "", kModuleHelp, "", {}, true, false},
                   {"--out", "PROGRAM", "file to write instead of printing", "", {}, false, false},
                   {"--flat", "", "one equation per operation, without `def`s", "", {}, false, false},
                   eval_flag(),
                   train_flag(),
                   why_flag(),
                   {"--quiet", "", "print the program and what is unsupported alone, no notes", "", {}, false, false},
                   json_flag()},
    .run = run_import,
};

}  // namespace solstice::cli
