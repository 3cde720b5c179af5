#include "flow/run/state/run.h"

#include <algorithm>

#include "flow/run/agent/handover.h"
#include "flow/run/problem/written.h"

namespace solstice::flow {

std::filesystem::path named_original(const ModuleOptions& module) {
  return is_program(module.file) ? module.of : module.file;
}

bool lacks_module(const Run& run) { return is_program(run.options.module.file) && run.original.empty(); }

void warn_now(Run& run, const std::string& text) {
  run.report.warnings.push_back(text);
  run.progress.message(text);
}

int trials_done(const search::Tree& tree) {
  return static_cast<int>(std::count_if(tree.nodes().begin(), tree.nodes().end(),
                                        [](const auto& n) { return n.id > 0 && n.measurement.has_value(); }));
}

Status keep_event(Run& run, size_t number, const TrialRecord* trial) {
  return run.stored.store->add_event(run.report.run, number, run.tree.events()[number], trial);
}

Status keep_events_since(Run& run, size_t told) {
  for (size_t event = told; event < run.tree.events().size(); ++event) SOLSTICE_CHECK(keep_event(run, event, nullptr));
  return success();
}

Status open_nodes_again(Run& run) {
  const size_t told = run.tree.events().size();
  open_nodes_again(run.tree, run.agent ? run.agent->who() : "", run.agent && run.agent->asks_from_the_problem());
  return keep_events_since(run, told);
}

}  // namespace solstice::flow
