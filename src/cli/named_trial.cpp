#include "cli/named_trial.h"

#include <fmt/format.h>

#include "cli/view/run_view.h"

namespace solstice::cli {
namespace {

// A trial that was under way when its run ended has a node in the tree, and no record.
Error no_such_trial(const store::LoadedRun& loaded, const std::string& number) {
  const std::string& run = loaded.run.id;
  if (const Result<RunView> view = view_of(loaded); view.ok()) {
    for (const search::Node& node : view->tree.nodes()) {
      if (node.id > 0 && std::to_string(node.id) == number)
        return fail(Code::not_found,
                    fmt::format("trial {} of run {} has no result: it is {}", number, run, view->state_text(node)),
                    fmt::format("`solstice show {} --tree` shows what it changed", run));
    }
  }
  return fail(Code::not_found, fmt::format("run {} has no trial {}", run, number),
              loaded.trials.empty()
                  ? fmt::format("it has none: `solstice show {}` says what became of it", run)
                  : fmt::format("it has {}: `solstice show {}` lists them", loaded.trials.size(), run));
}

// Of a run from before searches were stored.
const TrialRecord* fastest_record(const std::vector<TrialRecord>& trials) {
  const TrialRecord* best = nullptr;
  const auto better = [&](const TrialRecord& t) {
    const bool measured = t.measured.has_value(), rival = best && best->measured.has_value();
    if (!best || measured != rival) return !best || measured;
    return measured ? *t.measured < *best->measured : *t.predicted < *best->predicted;
  };
  for (const TrialRecord& t : trials) {
    const bool usable =
        (t.state == TrialState::kVerified && t.measured) || (t.state == TrialState::kPredicted && t.predicted);
    if (usable && better(t)) best = &t;
  }
  return best;
}

}  // namespace

Result<TrialRecord> trial_named(const store::LoadedRun& loaded, const std::string& number) {
  for (const TrialRecord& trial : loaded.trials) {
    if (std::to_string(trial.number) == number) return trial;
  }
  return no_such_trial(loaded, number);
}

Result<TrialRecord> best_trial(const store::LoadedRun& loaded) {
  if (const Result<RunView> view = view_of(loaded); view.ok()) {
    if (const search::Node* best = view->tree.best()) return trial_named(loaded, std::to_string(best->id));
  } else if (const TrialRecord* best = fastest_record(loaded.trials)) {
    return *best;
  }
  return fail(
      Code::not_found, fmt::format("no trial of run {} has a time", loaded.run.id),
      fmt::format("`solstice show {}` says what became of it; --trial N names one of its trials", loaded.run.id));
}

Result<std::string> program_of(const TrialRecord& trial) {
  if (!trial.program.empty()) return trial.program;
  return fail(Code::not_found,
              fmt::format("trial {} of run {} has no program: it is {}{}", trial.number, trial.run,
                          enum_name(trial.state), trial.message.empty() ? "" : ", " + trial.message),
              fmt::format("`solstice show {}` lists the others", trial.run));
}

}  // namespace solstice::cli
