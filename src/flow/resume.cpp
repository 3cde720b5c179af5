#include "flow/resume.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "base/version.h"
#include "flow/described.h"
#include "flow/known.h"

namespace solstice::flow {
namespace {

// How a language model takes part, for whoever goes on with the run.
void set_agent(const AgentChoice& agent, Json& options) {
  if (agent.wanted()) options.set("agent", agent.controller).set("agent_terms", to_json(agent.terms));
}

RunRecord record_of(const Session& state) {
  RunRecord run;
  run.problem = state.report.problem;
  run.file = state.report.file;
  run.problem_key = state.problem_key;
  const std::string device = state.options.detached ? "auto" : state.options.device;
  run.options_key = Hasher().add(device).add(state.options.numerics).add(int64_t{state.options.frozen}).hex();
  run.command = state.options.command;
  run.working_folder = state.report.working_folder;
  run.device = device;
  run.folder = whole_path(state.out);
  run.options = Json::object()
                    .set("class_name", state.options.class_name)
                    .set("numerics", state.options.numerics)
                    .set("frozen", state.options.frozen)
                    .set("rewrites", state.options.rewrites)
                    .set("trials", state.options.trials);
  set_agent(state.agent_choice, run.options);
  run.policy = state.policy;
  run.seed = static_cast<int64_t>(state.options.seed);
  run.facts = state.facts;
  run.versions["solstice"] = std::string(version());
  return run;
}

void say_who_leads(const RunRecord& run, const AgentChoice& now, Progress& progress) {
  const std::string& agent = run.options.at("agent").as_string();
  if (agent == now.controller) return;
  progress.message(agent.empty()
                       ? fmt::format("run {} had no language model so far; now {} leads one", run.id, now.controller)
                       : fmt::format("run {} had a language model led by {}; {}", run.id, agent,
                                     now.wanted() ? "now " + now.controller + " leads it" : "without --agent the expert goes on alone"));
}

// As it was led, where nothing else is said now.
Status take_terms(Session& state, const RunRecord& run) {
  SOLSTICE_TRY(AgentTerms before, terms_of(run));
  if (before.expert && !before.tune) before.tune = 0;  // terms are kept whole: these are of a Solstice whose expert did not tune
  state.agent_choice.terms = state.options.agent.terms.or_as(before).or_as(AgentTerms::usual());
  if (!state.agent_choice.wanted() || run.options.is_null()) return success();  // null: it is of a Solstice that kept none
  Json options = run.options;
  set_agent(state.agent_choice, options);
  return state.store->keep_options(run.id, options);
}

Status go_on(Session& state, const RunRecord& wanted) {
  SOLSTICE_TRY(store::LoadedRun loaded, state.store->load_run(state.options.resume));
  const RunRecord& run = loaded.run;
  // A module given as an object is known only when it is imported; restore_tree() looks then.
  const bool same = run.options_key == wanted.options_key && (state.options.file.empty() || run.problem_key == wanted.problem_key);
  if (!same) {
    return fail(Code::bad_argument, fmt::format("run {} is of {} with other options or another text: resume it with `{}`", run.id,
                                                run.problem, fmt::join(run.command, " ")));
  }
  SOLSTICE_CHECK(state.store->resume_run(run.id));
  state.report.run = run.id;
  if (state.options.policy.empty() && !run.policy.empty()) state.policy = run.policy;
  state.facts = run.facts;  // with others its search would go another way
  say_who_leads(run, state.agent_choice, state.progress);
  SOLSTICE_CHECK(take_terms(state, run));
  state.resumed = std::move(loaded);
  return success();
}

}  // namespace

Status begin_run(Session& state) {
  state.policy = state.options.policy.empty() ? "greedy" : state.options.policy;
  if (state.options.memory) {
    SOLSTICE_TRY(state.facts, state.store->last_fact());
  }
  state.agent_choice.terms = state.options.agent.terms.or_as(AgentTerms::usual());
  const RunRecord wanted = record_of(state);
  if (!state.options.resume.empty()) return go_on(state, wanted);
  SOLSTICE_TRY(state.report.run, state.store->begin_run(wanted));
  return success();
}

Status restore_tree(Session& state) {
  if (!state.resumed || state.resumed->events.empty()) {
    state.tree = search::Tree(state.eager);
    return keep_events_since(state, 0);
  }
  const RunRecord& run = state.resumed->run;
  if (run.problem_key != state.problem_key) return fail(Code::bad_argument, fmt::format("run {} is of another module", run.id));
  if (run.machine != state.machine->name) {
    return fail(Code::bad_argument, fmt::format("run {} was measured on {}, this is {}", run.id, run.machine, state.machine->name));
  }
  const auto build = run.versions.find("build");
  if (build != run.versions.end() && build->second != build_identity()) {
    state.report.warnings.push_back(
        "trials before the run was resumed are of another build of Solstice; finalists are verified and timed anew");
  }
  for (const store::StoredEvent& stored : state.resumed->events)
    SOLSTICE_CHECK(state.tree.apply(stored.event).context("resuming run " + run.id));
  const std::vector<search::Event>& events = state.tree.events();
  state.report.trials_skipped = static_cast<int>(
      std::count_if(events.begin(), events.end(), [](const auto& event) { return event.kind == search::Event::Kind::kSkipped; }));
  if (!state.options.searched) state.progress.message(fmt::format("run {} goes on after {} trials", run.id, state.tree.trials()));
  return success();
}

Status keep_event(Session& state, size_t number, const TrialRecord* trial) {
  return state.store->add_event(state.report.run, number, state.tree.events()[number], trial);
}

Status keep_events_since(Session& state, size_t told) {
  for (size_t event = told; event < state.tree.events().size(); ++event) SOLSTICE_CHECK(keep_event(state, event, nullptr));
  return success();
}

size_t handed_over_at(const search::Tree& tree) {
  const std::vector<search::Event>& events = tree.events();
  const auto found = std::find_if(events.begin(), events.end(), [](const search::Event& event) {
    return event.kind == search::Event::Kind::kOpened || (event.proposal && !event.proposal->answer.empty());
  });
  return static_cast<size_t>(found - events.begin());
}

bool handed_over(const search::Tree& tree) { return handed_over_at(tree) < tree.events().size(); }

Status open_nodes_again(Session& state) {
  const size_t told = state.tree.events().size();
  const int first = state.tree.best() ? 1 : 0;
  for (int id = first; id <= state.tree.trials(); ++id) {
    const std::optional<search::Proposal>& given_up = state.tree.node(id).given_up;
    if (!given_up || given_up->origin != state.agent->who()) state.tree.open(id);
  }
  return keep_events_since(state, told);
}

}  // namespace solstice::flow
