#include "flow/run/problem/traced_import.h"

#include <fmt/format.h>

#include <algorithm>

namespace solstice::flow {

namespace {

constexpr int kRounds = 4;  // what an operator is broken up into may lack equations too

Result<TracedImport> attempt(const Tracer& trace, const std::vector<std::string>& decompose,
                             importer::ImportForm form) {
  TracedImport out;
  SOLSTICE_TRY(out.graph, trace(decompose));
  Result<importer::ImportedProblem> imported = importer::import_graph(out.graph, form);
  if (imported.ok()) {
    out.imported = std::move(*imported);
    return out;
  }
  if (imported.error().code != Code::unsupported_operator) return imported.error();
  out.refused = std::move(imported.error());
  out.imported.unsupported = importer::unsupported_calls(out.graph);
  return out;
}

// The first lacks less.
bool is_better(const TracedImport& first, const TracedImport& second) {
  if (first.refused.has_value() != second.refused.has_value()) return !first.refused;
  return first.imported.unsupported.size() < second.imported.unsupported.size();
}

// Operators without equations that PyTorch can break up and that were not named yet.
std::vector<std::string> breakable(const TracedImport& found, const std::vector<std::string>& named) {
  std::vector<std::string> out;
  const Json* known = found.graph.producer.find("decomposable");
  if (!known) return out;
  for (const importer::UnsupportedOp& op : found.imported.unsupported) {
    const auto same = [&](const Json& name) { return name.as_string() == op.op; };
    const bool can = std::any_of(known->items().begin(), known->items().end(), same);
    const auto has = [&](const std::vector<std::string>& list) {
      return std::find(list.begin(), list.end(), op.op) != list.end();
    };
    if (can && !has(named) && !has(out)) out.push_back(op.op);
  }
  return out;
}

// Breaks up `fresh` too: all at once; where that fails, one after the other, so that one that fails is left out alone.
// `done` has what was broken up, `notes` why others were not. None where all fail.
Result<std::optional<TracedImport>> break_up(const Tracer& trace, const std::vector<std::string>& fresh,
                                             importer::ImportForm form, std::vector<std::string>& done,
                                             std::vector<importer::ImportNote>& notes) {
  std::vector<std::string> all = done;
  all.insert(all.end(), fresh.begin(), fresh.end());
  Result<TracedImport> next = attempt(trace, all, form);
  if (next.ok()) {
    done = std::move(all);
    return std::optional(std::move(*next));
  }
  if (next.error().code == Code::interrupted) return next.error();  // Python is ended
  if (fresh.size() == 1) {
    notes.push_back({fmt::format("decomposing {} failed: {}", fresh[0], next.error().message), {}});
    return std::optional<TracedImport>();
  }
  std::optional<TracedImport> last;
  for (const std::string& one : fresh) {
    SOLSTICE_TRY(std::optional<TracedImport> found, break_up(trace, {one}, form, done, notes));
    if (found) last = std::move(found);
  }
  return last;
}

}  // namespace

Error of_file(Error error, const std::filesystem::path& file) {
  if (error.file.empty() && error.kind() == ErrorKind::kInput) error.file = file.string();
  return error;
}

Result<TracedImport> import_traced(const Tracer& trace, importer::ImportForm form) {
  SOLSTICE_TRY(TracedImport best, attempt(trace, {}, form));
  std::vector<std::string> done, named, fresh = breakable(best, named);
  std::vector<importer::ImportNote> notes;
  for (int round = 0; round < kRounds && !fresh.empty(); ++round) {
    named.insert(named.end(), fresh.begin(), fresh.end());
    SOLSTICE_TRY(std::optional<TracedImport> next, break_up(trace, fresh, form, done, notes));
    if (!next) break;
    fresh = breakable(*next, named);
    if (is_better(*next, best)) {
      next->whole = best.whole ? std::move(best.whole) : std::move(best.graph);
      best = std::move(*next);
    }
  }
  best.imported.notes.insert(best.imported.notes.end(), notes.begin(), notes.end());
  return best;
}

}  // namespace solstice::flow
