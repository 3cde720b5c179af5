#include "import/import.h"
#include "import/import_as.h"
#include "ir/bind.h"

namespace solstice::importer {

namespace {

Result<ir::Program> bound(const ImportedProblem& problem) {
  Diagnostics unused;
  Result<ir::Program> program = ir::load_program(problem.text, "imported", unused);
  if (program.ok()) return program;
  const std::string& listing = program.error().listing;
  return fail(Code::program_invalid, listing.substr(0, listing.find('\n')));
}

// The reason not to use the folded form; "" if it is the flat one's equal. Both have the flat form's tensors.
std::string reason_against(const Imported& folded, const Imported& flat, const ir::Program& flat_program) {
  const Result<ir::Program> program = bound(folded.problem);
  if (!program.ok()) return "the language refuses the folded form: " + program.error().message;
  std::map<std::string, FoldedPlace> places;
  for (size_t t = 0; t < flat.places.size(); ++t) places[flat.places[t].tensor] = folded.places.at(t);
  const std::string why = difference(flat_program, *program, places);
  return why.empty() ? why : "the folded form is not proved equal to the flat one: " + why;
}

}  // namespace

// The language takes the flat form of every module, whatever becomes of it.
Result<ImportedProblem> import_graph(const Graph& graph, ImportForm form) {
  const Folding folding = form == ImportForm::kFolded ? Folding::kAll : Folding::kRecurrences;
  SOLSTICE_TRY(Imported folded, import_as(graph, folding));
  Imported flat = folded;
  if (folded.folded) {
    SOLSTICE_TRY(flat, import_as(graph, Folding::kNone));
  }
  const Result<ir::Program> program = bound(flat.problem);
  if (!program.ok())
    return fail(Code::internal, "the language refuses the equations of this module: " + program.error().message);
  if (!folded.folded) return std::move(flat.problem);
  const std::string why = reason_against(folded, flat, *program);
  if (why.empty()) return std::move(folded.problem);
  flat.problem.notes.insert(flat.problem.notes.begin(), {"not folded, since " + why, {}});
  return std::move(flat.problem);
}

}  // namespace solstice::importer
