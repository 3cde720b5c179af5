#include "flow/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/clock.h"
#include "base/log.h"
#include "propose/facts.h"

namespace solstice::flow {
namespace {

Result<int> keep_facts(store::Store& store, const std::string& run, const search::Tree& tree, const machine::Machine& machine) {
  std::vector<Fact> facts = propose::facts_of(tree, propose::pieces_on(machine));
  const std::string now = utc_now();
  for (Fact& fact : facts) fact.run = run, fact.machine = machine.name, fact.at = now;
  return store.add_facts(facts);
}

// Nothing where it has no trial: it failed before, may be without a machine.
Result<std::optional<int>> facts_of_stored(store::Store& store, const RunRecord& run) {
  SOLSTICE_TRY(const store::LoadedRun loaded, store.load_run(run.id));
  search::Tree tree;
  for (const store::StoredEvent& stored : loaded.events) SOLSTICE_CHECK(tree.apply(stored.event));
  if (tree.trials() == 0) return std::optional<int>();
  SOLSTICE_TRY(const int added, remember(store, run.id, tree, run.machine));
  return std::optional(added);
}

}  // namespace

std::shared_ptr<const search::Memory> recalled(Session& state) {
  if (state.facts == 0 || !(state.gpu || state.measured_elsewhere)) return nullptr;
  const Result<std::vector<Fact>> facts = state.store->facts(state.machine->name, state.facts);
  if (!facts.ok()) {
    log_warning("facts of other problems do not order this search", Json::object().set("why", facts.error().text()));
    return nullptr;
  }
  if (facts->empty()) return nullptr;
  return std::make_shared<const search::Memory>(*facts);
}

Result<int> remember(store::Store& store, const std::string& run, const search::Tree& tree, const std::string& machine) {
  SOLSTICE_TRY(const machine::Machine found, machine::load_machine(machine));
  return keep_facts(store, run, tree, found);
}

void remember(Session& state) {
  if (!state.gpu || !state.machine) return;
  const Result<int> added = keep_facts(*state.store, state.report.run, state.tree, *state.machine);
  if (!added.ok()) log_warning("the store does not keep this run's facts", Json::object().set("why", added.error().text()));
}

Result<Rebuilt> rebuild_facts(store::Store& store) {
  SOLSTICE_TRY(std::vector<store::ListedRun> listed, store.list(std::numeric_limits<int>::max()));
  std::reverse(listed.begin(), listed.end());
  Rebuilt out;
  for (const store::ListedRun& one : listed) {
    if (one.run.ok() && (one.run->device == "model" || one.run->state == RunState::kRunning)) continue;
    const Result<std::optional<int>> added = one.run.ok() ? facts_of_stored(store, *one.run) : Result<std::optional<int>>(one.run.error());
    if (!added.ok()) {
      if (added.error().code == Code::disk_full) return added.error();
      out.unreadable.push_back(fmt::format("{}: {}", one.id, added.error().message));
      continue;
    }
    (added->has_value() ? out.runs : out.without_trials) += 1;
    out.facts += added->value_or(0);
  }
  return out;
}

}  // namespace solstice::flow
