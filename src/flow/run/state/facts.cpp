#include "flow/run/state/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "flow/run/state/stored_runs.h"
#include "propose/facts/facts.h"
#include "propose/facts/outcomes.h"

namespace solstice::flow {
namespace {

Status add_facts_of(store::Store& store, const RunRecord& run, Rebuilt& out) {
  SOLSTICE_TRY(const store::LoadedRun loaded, store.load_run(run.id));
  if (run.device == "model" && !is_of_gpu(loaded)) return success();
  search::Tree tree;
  for (const store::StoredEvent& stored : loaded.events) SOLSTICE_CHECK(tree.apply(stored.event));
  if (tree.trials() == 0) {  // it failed before, may be without a machine
    ++out.without_trials;
    return success();
  }
  SOLSTICE_TRY(const int added, remember(store, run.id, tree, run.machine));
  ++out.runs;
  out.facts += added;
  return success();
}

}  // namespace

namespace {

// Findings whose action a fact's move is.
void add_advised(const search::Tree& tree, std::vector<Fact>& facts) {
  for (const propose::FindingOutcome& outcome : propose::outcomes_of(tree)) {
    for (const propose::ActedOn& acted : outcome.acted) {
      for (Fact& fact : facts) {
        if (fact.node == acted.node) fact.advised.push_back({outcome.tool, outcome.bound});
      }
    }
  }
}

}  // namespace

Result<int> keep_facts(store::Store& store, const std::string& run, const search::Tree& tree,
                       const machine::Machine& machine) {
  std::vector<Fact> facts = propose::facts_of(tree, propose::pieces_on(machine));
  add_advised(tree, facts);
  const std::string now = utc_now();
  for (Fact& fact : facts) fact.run = run, fact.machine = machine.name, fact.at = now;
  return store.add_facts(facts);
}

Result<int> remember(store::Store& store, const std::string& run, const search::Tree& tree,
                     const std::string& machine) {
  SOLSTICE_TRY(const machine::Machine found, machine::load_machine(machine));
  return keep_facts(store, run, tree, found);
}

Result<Rebuilt> rebuild_facts(store::Store& store) {
  SOLSTICE_TRY(std::vector<store::ListedRun> listed, store.list(std::numeric_limits<int>::max()));
  std::reverse(listed.begin(), listed.end());
  Rebuilt out;
  for (const store::ListedRun& one : listed) {
    if (one.run.ok() && one.run->state == RunState::kRunning) continue;
    const Status added = one.run.ok() ? add_facts_of(store, *one.run, out) : Status(one.run.error());
    if (added.ok()) continue;
    if (added.error().code == Code::disk_full) return added.error();
    out.unreadable.push_back(fmt::format("{}: {}", one.id, added.error().message));
  }
  return out;
}

}  // namespace solstice::flow
