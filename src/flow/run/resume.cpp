#include "flow/run/resume.h"

#include <fmt/format.h>

#include "base/version.h"
#include "flow/run/agent/handover.h"
#include "flow/run/state/closing.h"
#include "flow/run/state/commands.h"
#include "flow/run/state/resume_options.h"
#include "flow/run/state/stored_runs.h"

namespace solstice::flow {
namespace {

RunRecord record_of(const Run& run) {
  const RunOptions& options = run.options;
  RunRecord record;
  record.problem = run.report.problem;
  record.file = run.report.file;
  record.problem_key = run.stored.problem_key;
  record.options_key = options_key_of(options);
  record.command = run.report.command;
  record.working_folder = run.report.working_folder;
  record.options = kept_options(options);
  record.machine = options.place.machine;
  record.device = record.options.at("device").as_string();
  record.folder = whole_path(run.folders.out);
  set_agent(options.agent, options.model_since, record.options);
  record.policy = options.search.policy;
  record.seed = static_cast<int64_t>(options.search.seed);
  record.facts = run.stored.facts;
  record.versions["solstice"] = std::string(version());
  return record;
}

void say_who_leads(const std::string& run, const std::string& agent, const AgentChoice& now, Progress& progress) {
  if (agent == now.controller) return;
  progress.message(agent.empty()
                       ? fmt::format("run {} had no language model so far; now {} leads one", run, now.controller)
                       : fmt::format("run {} had a language model led by {}; {}", run, agent,
                                     now.wanted() ? "now " + now.controller + " leads it"
                                                  : "without --agent the expert goes on alone"));
}

// Records the choices of this start, for whoever goes on with the run later. A Solstice that kept no options keeps none
// later either.
void choose_anew(const Run& run, RunRecord& record) {
  const RunOptions& options = run.options;
  record.policy = options.search.policy;
  record.seed = static_cast<int64_t>(options.search.seed);
  if (!run.folders.out.empty()) record.folder = whole_path(run.folders.out);
  if (record.options.is_null()) return;
  const Json search = search_options(options);
  for (const auto& [name, value] : search.members()) record.options.set(name, value);
  set_agent(options.agent, options.model_since, record.options);
}

// All choices so far go by the run as it was loaded.
Status claim(Run& run) {
  const store::LoadedRun& loaded = *run.stored.resumed;
  store::Store& store = *run.stored.store;
  SOLSTICE_TRY(const store::LoadedRun now, store.resume_run(loaded.run.id));
  if (now.events.size() == loaded.events.size() && to_json(now.run).dump() == to_json(loaded.run).dump())
    return success();
  const Status changed =
      fail(Code::bad_argument, fmt::format("another process went on with run {} meanwhile", now.run.id),
           "run the command again");
  return told_after(changed, store.stop_run(now.run.id, now.run.state, now.run.reason));
}

Status go_on(Run& run) {
  SOLSTICE_CHECK(claim(run));
  RunRecord& record = run.stored.resumed->run;
  run.report.run = record.id;
  run.stored.facts = record.facts;  // with others its search would go another way
  say_who_leads(record.id, run.options.led_before.agent, run.options.agent, run.progress);
  choose_anew(run, record);
  return run.stored.store->keep_choices(record);
}

// Predicted here, they would be known when they come.
Status check_results_out(const Run& run, const store::LoadedRun& resumed) {
  const RunRecord& record = resumed.run;
  const RunOptions& options = run.options;
  if (options.asked_to_predict || !options.had_batches) return success();
  search::Tree tree;
  for (const store::StoredEvent& stored : resumed.events)
    SOLSTICE_CHECK(tree.apply(stored.event).context("run " + record.id));
  if (tree.in_flight() == 0) return success();
  return fail(Code::bad_argument,
              fmt::format("run {}: {}, and no GPU is here: times would be predicted", record.id,
                          waiting_for(record.id, tree.in_flight(), options.store)),
              fmt::format("`solstice absorb BATCH` takes results, `{} --give-up` does not wait for them, --device "
                          "model predicts what is out",
                          command_to_propose(record.id, options.store)));
}

}  // namespace

Status begin_run(Run& run) {
  if (run.stored.resumed) return go_on(run);
  if (run.options.search.memory) {
    SOLSTICE_TRY(run.stored.facts, run.stored.store->last_fact());
  }
  SOLSTICE_TRY(run.report.run, run.stored.store->begin_run(record_of(run)));
  return success();
}

Status check_place(const Run& run, const Opened& opened) {
  const std::optional<store::LoadedRun>& resumed = run.stored.resumed;
  if (!resumed || (resumed->events.empty() && !resumed->run.summary.at(kCut).as_bool())) return success();
  const RunRecord& record = resumed->run;
  if (record.machine != opened.machine.name) {
    return fail(
        Code::bad_argument,
        fmt::format("run {} was made for {}, this is {}: go on where that is, or, where this is one, with --machine {}",
                    record.id, record.machine, opened.machine.name, record.machine));
  }
  if (opened.gpu || run.options.place.detached) return success();
  if (!is_of_gpu(*resumed)) return check_results_out(run, *resumed);
  return fail(Code::bad_argument, fmt::format("run {} was measured on {}, and no GPU is here: times would be predicted",
                                              record.id, gpu_of(record)));
}

}  // namespace solstice::flow
