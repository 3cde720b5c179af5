// The problem of a run: the user's module, its traced graph, the equations it was imported into.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "import/import.h"
#include "ir/program.h"
#include "lang/tree.h"
#include "record/graph.h"
#include "record/oracle_messages.h"
#include "run/oracle_client.h"

namespace solstice::flow {

struct Problem {
  OracleSubject subject;
  std::filesystem::path cached;  // entry that the graph was read from; "" where it was traced now
  Graph graph;
  std::optional<Graph> whole;  // as PyTorch calls it, where operators of `graph` were broken up for the importer
  importer::ImportedProblem imported;
  std::optional<Error> refused;  // no program can hold the module: of `imported` there is only `unsupported`
  lang::Program tree;            // imported.text, parsed
  ir::Program program;           // and bound

  const Graph& called() const { return whole ? *whole : graph; }  // the operators that PyTorch runs
};

// Is told of a module that was loaded, before it is traced: what is known of it holds where the trace fails.
using LoadedNews = std::function<void(const OracleSubject&)>;

// The first half of load_problem(): loads, traces and imports. `tree` and `program` are empty. Errors: what the oracle
// says of the file; what no program can hold is `refused`.
Result<Problem> trace_problem(run::OracleClient& oracle, const std::filesystem::path& file,
                              const std::string& class_name, const std::string& mode = {},
                              const std::filesystem::path& cache = {},
                              importer::ImportForm form = importer::ImportForm::kFlat, const LoadedNews& loaded = {});
// The same of a module that may be cut: of one that branches on values, which is `refused`, the graph is that of its
// example inputs.
Result<Problem> trace_to_cut(run::OracleClient& oracle, const std::filesystem::path& file,
                             const std::string& class_name, const std::string& mode, const std::filesystem::path& cache,
                             const LoadedNews& loaded = {});
// The second: binds the equations, if there are some for everything. Errors: the others of load_problem().
Status bind_problem(Problem& problem);

// Loads, traces, imports and checks. `file` is empty where the caller's process holds the module. Errors: what the
// oracle says of the file; unsupported_operator, naming the operators and their lines; internal where the importer
// wrote a program that does not check. With a `cache` folder the graph may come from there.
Result<Problem> load_problem(run::OracleClient& oracle, const std::filesystem::path& file,
                             const std::string& class_name, const std::string& mode = {},
                             const std::filesystem::path& cache = {}, const LoadedNews& loaded = {});

// RunRecord::problem_key of a module given as an object, which has no text but its equations.
std::string key_of_object(const Problem& problem);

// The folder of traced graphs; "" where there is no cache folder.
std::filesystem::path graph_cache();

// "aten.conv3d.default (model.py:12), ..."
std::string unsupported_text(const importer::ImportedProblem& imported);

}  // namespace solstice::flow
