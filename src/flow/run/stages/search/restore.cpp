#include "flow/run/stages/search/restore.h"

#include <fmt/format.h>

#include <algorithm>

#include "flow/run/state/build_identity.h"
#include "search/counts.h"

namespace solstice::flow {
namespace {

Status add_original(Run& run, Seconds original) {
  if (original.value <= 0 || run.tree.node(0).measurement) return success();
  search::Measurement measured;
  measured.state = TrialState::kVerified;
  measured.time = original;
  const size_t told = run.tree.events().size();
  run.tree.complete(0, std::move(measured));
  return keep_events_since(run, told);
}

void warn_of_build(Run& run, const RunRecord& record) {
  const auto build = record.versions.find("build");
  if (build == record.versions.end() || build->second == build_identity()) return;
  run.report.warnings.push_back(
      "trials before the run was resumed are of another build of Solstice; finalists are verified and timed anew");
}

}  // namespace

Status restore_tree(Run& run, Seconds original) {
  const std::optional<store::LoadedRun>& resumed = run.stored.resumed;
  if (!resumed || resumed->events.empty()) {
    run.tree = search::Tree(original);
    return keep_events_since(run, 0);
  }
  warn_of_build(run, resumed->run);
  for (const store::StoredEvent& stored : resumed->events)
    SOLSTICE_CHECK(run.tree.apply(stored.event).context("resuming run " + resumed->run.id));
  SOLSTICE_CHECK(add_original(run, original));
  const std::vector<search::Event>& events = run.tree.events();
  run.report.trials_skipped = static_cast<int>(std::count_if(
      events.begin(), events.end(), [](const auto& event) { return event.kind == search::Event::Kind::kSkipped; }));
  if (!run.options.search.searched)
    run.progress.message(fmt::format("run {} goes on after {}", resumed->run.id, text_of(search::counts_of(run.tree))));
  return success();
}

}  // namespace solstice::flow
