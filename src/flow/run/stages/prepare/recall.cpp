#include "flow/run/stages/prepare/recall.h"

#include "base/log.h"
#include "flow/run/state/build_identity.h"

namespace solstice::flow {
namespace {

// Other numerics, or other weights, make other candidates; runs of an earlier Solstice do not say.
bool same_terms(const RunRecord& record, const CandidateTerms& terms) {
  const Json& options = record.options;
  if (options.is_null()) return true;
  return options.at("numerics").as_string() == terms.numerics && options.at("frozen").as_bool() == terms.frozen;
}

bool same_place(const RunRecord& record, const Run& run, const Opened& opened) {
  const auto version = [&record](const char* what) {
    const auto found = record.versions.find(what);
    return found == record.versions.end() ? std::string() : found->second;
  };
  return record.machine == opened.machine.name && record.device == run.report.device &&
         version("build") == build_identity() && version("driver") == run.engine.driver;
}

void warn_of_recall(const Error& error) {
  log_warning("earlier runs do not order this search", Json::object().set("why", error.text()));
}

void add_known(const TrialRecord& trial, std::optional<Seconds> time, std::vector<propose::Known>& out) {
  if (time) out.push_back({trial.settings, trial.program, *time, trial.equations, trial.cut});
}

// Of a part that is equal to this one; without a GPU by what was predicted for it.
void add_of_equal_part(Run& run, const Opened& opened, std::vector<propose::Known>& out) {
  if (run.options.module.like.empty()) return;
  const Result<store::LoadedRun> like = run.stored.store->load_run(run.options.module.like);
  if (!like.ok()) return warn_of_recall(like.error());
  for (const TrialRecord& trial : like->trials) {
    const bool predicted = !opened.gpu && trial.state == TrialState::kPredicted;
    add_known(trial, predicted ? trial.predicted : trial.measured, out);
  }
}

}  // namespace

std::vector<propose::Known> known_candidates(Run& run, const Opened& opened) {
  std::vector<propose::Known> out;
  StoredRun& stored = run.stored;
  if (!stored.store) return out;
  add_of_equal_part(run, opened, out);
  if (!opened.gpu) return out;
  // A run that goes on is told nothing of those that began after it.
  const std::string before = stored.resumed ? stored.resumed->run.started : "";
  const Result<std::vector<store::LoadedRun>> runs = stored.store->verified_trials(stored.problem_key, before);
  if (!runs.ok()) {
    warn_of_recall(runs.error());
    return out;
  }
  for (const store::LoadedRun& loaded : *runs) {
    if (!same_place(loaded.run, run, opened) || !same_terms(loaded.run, run.options.terms)) continue;
    for (const TrialRecord& trial : loaded.trials) add_known(trial, trial.measured, out);
  }
  return out;
}

Recalled recalled_facts(Run& run, const Opened& opened) {
  StoredRun& stored = run.stored;
  if (stored.facts == 0 || !(opened.gpu || run.options.place.detached)) return {};
  const Result<std::vector<Fact>> facts = stored.store->facts(opened.machine.name, stored.facts);
  if (!facts.ok()) {
    log_warning("facts of other problems do not order this search", Json::object().set("why", facts.error().text()));
    return {};
  }
  if (facts->empty()) return {};
  return {std::make_shared<const search::Memory>(*facts), search::tool_weights(*facts)};
}

}  // namespace solstice::flow
