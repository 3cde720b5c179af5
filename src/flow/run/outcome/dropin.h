// Writes the drop-in module of an outcome folder: model_new.py, dropin.json (schema solstice.dropin/1), the runtime
// package beside it, the original source and libsolstice_rt.so. plan.json and the cubins must lie there already.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "import/import.h"
#include "record/graph.h"
#include "record/oracle_messages.h"

namespace solstice::flow {

struct DropinParts {
  const Graph& graph;
  const importer::ImportedProblem& imported;
  const OracleSubject& subject;
  std::string target;  // "sm_90a"
  bool frozen = false;
  // Of a module that PyTorch runs a part of (docs/protocol.md, "Schedule"): plans lie in folders `stage_NUMBER`.
  Json schedule = {};      // null: the plan is the whole module
  Json parts = {};         // what is whose, as in the report
  bool predicted = false;  // the stages have no kernels: nothing was compiled for them
  bool left_out = false;   // 0 * NaN of masks is not computed (Report::left_out): the docstring says so
};

// For a module given as an object (no file) everything but model_new.py is written: solstice.optimize() attaches it.
// `home`: where the folder will lie in the end.
Status write_dropin(const DropinParts& parts, const std::filesystem::path& folder, const std::filesystem::path& home);

// Removes what write_dropin() wrote, and the stages' folders. A plan of the whole module and its cubins stay: they are
// the candidate's that the report is about.
void remove_dropin(const std::filesystem::path& folder);

// The original's file and the user's own modules that it loaded, into `folder`; `source` of dropin.json says where.
Status copy_original(const OracleSubject& subject, const std::filesystem::path& folder);
Json source_of(const OracleSubject& subject);

// dropin.json alone, and model_new.py of its template, for tests.
Result<Json> dropin_record(const DropinParts& parts);
std::string module_text(std::string text, const DropinParts& parts, const std::filesystem::path& home);

}  // namespace solstice::flow
