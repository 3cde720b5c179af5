#include "flow/run/resume.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/version.h"
#include "flow/batch/files.h"
#include "flow/run/state/closing.h"
#include "flow/run/stages/known.h"
#include "flow/run/opening.h"
#include "flow/run/stages/described.h"
#include "flow/run/state/resume_options.h"

namespace solstice::flow {
namespace {

RunRecord record_of(const Session& state) {
  RunRecord run;
  run.problem = state.report.problem;
  run.file = state.report.file;
  run.problem_key = state.problem_key;
  run.options_key = options_key_of(state.options);
  run.command = state.report.command;
  run.working_folder = state.report.working_folder;
  run.options = kept_options(state.options);
  run.machine = state.options.machine;
  run.device = run.options.at("device").as_string();
  run.folder = whole_path(state.out);
  set_agent(state.agent_choice, 0, run.options);
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
                                     now.wanted() ? "now " + now.controller + " leads it"
                                                  : "without --agent the expert goes on alone"));
}

// As it was led, where nothing else is said now.
Status take_terms(Session& state) {
  AgentTerms before;
  if (state.resumed) {
    SOLSTICE_TRY(before, terms_of(state.resumed->run));
  }
  if (before.expert && !before.tune)
    before.tune = 0;  // terms are kept whole: these are of a Solstice whose expert did not tune
  state.agent_choice.terms = state.options.agent.terms.or_as(before).or_as(AgentTerms::usual());
  return success();
}

Status load_resumed(Session& state) {
  if (state.options.resume.empty()) return success();
  SOLSTICE_CHECK(state.store->close_abandoned());  // of a killed process it is as claim() will find it
  SOLSTICE_TRY(state.resumed, state.store->load_run(state.options.resume));
  // A module given as an object is known only when it is imported; restore_tree() looks then.
  return check_as_begun(state.options, state.source, *state.resumed);
}

// A model that would not be asked. One that was killed behind its last trial still comes to its end.
Status check_trials_left(const Session& state) {
  if (!state.resumed || !state.agent_choice.wanted() || state.options.detached || state.options.searched)
    return success();
  constexpr int kMore = 40;  // a whole search, as of a new run
  const RunRecord& run = state.resumed->run;
  const bool broken_off = run.state != RunState::kFinished && run.options.at("led_by").as_string() == "model";
  if (broken_off) return success();
  const std::vector<store::StoredEvent>& events = state.resumed->events;
  const auto trials = static_cast<int>(std::count_if(events.begin(), events.end(), [](const auto& stored) {
    return stored.event.kind == search::Event::Kind::kProposed;
  }));
  if (trials < state.options.trials) return success();
  return fail(Code::bad_argument,
              fmt::format("run {} has {} trials, and its budget is {}: none is left for {}; give more, for example "
                          "--budget {}trials, or "
                          "leave --agent out",
                          run.id, trials, state.options.trials, state.agent_choice.controller, trials + kMore));
}

// What is chosen anew, for whoever goes on with it later. A Solstice that kept no options keeps none later either.
void choose_anew(const Session& state, size_t events, RunRecord& run) {
  run.policy = state.policy;
  run.seed = static_cast<int64_t>(state.options.seed);
  if (!state.out.empty()) run.folder = whole_path(state.out);
  if (run.options.is_null()) return;
  const Json search = search_options(state.options);
  for (const auto& [name, value] : search.members()) run.options.set(name, value);
  set_agent(state.agent_choice, events, run.options);
}

// What was chosen so far goes by the run as it was loaded.
Status claim(Session& state) {
  const store::LoadedRun& loaded = *state.resumed;
  SOLSTICE_TRY(const store::LoadedRun now, state.store->resume_run(loaded.run.id));
  if (now.events.size() == loaded.events.size() && to_json(now.run).dump() == to_json(loaded.run).dump())
    return success();
  const Status changed =
      fail(Code::bad_argument,
           fmt::format("another process went on with run {} meanwhile; run the command again", now.run.id));
  return told_after(changed, state.store->stop_run(now.run.id, now.run.state, now.run.reason));
}

Status go_on(Session& state) {
  SOLSTICE_CHECK(claim(state));
  RunRecord& run = state.resumed->run;
  state.report.run = run.id;
  state.facts = run.facts;  // with others its search would go another way
  say_who_leads(run, state.agent_choice, state.progress);
  choose_anew(state, state.resumed->events.size(), run);
  return state.store->keep_choices(run);
}

// Predicted here, they would be known when they come.
Status check_results_out(const Session& state) {
  const RunRecord& run = state.resumed->run;
  const bool asked_for = state.options.device == "model" && !state.options.left_out.contains("--device");
  if (asked_for || !is_measured_elsewhere(run)) return success();
  search::Tree tree;
  for (const store::StoredEvent& stored : state.resumed->events)
    SOLSTICE_CHECK(tree.apply(stored.event).context("run " + run.id));
  if (tree.in_flight() == 0) return success();
  return fail(Code::bad_argument, fmt::format("run {}: {}, and no GPU is here: times would be predicted; `solstice "
                                              "absorb BATCH` takes results, `{} --give-up` "
                                              "does not wait for them, --device model predicts what is out",
                                              run.id, waiting_for(run.id, tree.in_flight(), state.options.store),
                                              command_to_propose(run.id, state.options.store)));
}

std::string policy_of(const Session& state) {
  if (!state.options.policy.empty()) return state.options.policy;
  return state.resumed && !state.resumed->run.policy.empty() ? state.resumed->run.policy : "greedy";
}

}  // namespace

Status choose_run(Session& state) {
  SOLSTICE_CHECK(load_resumed(state));
  SOLSTICE_CHECK(check_trials_left(state));
  SOLSTICE_CHECK(take_terms(state));
  state.policy = policy_of(state);
  return open_choices(state);
}

Status begin_run(Session& state) {
  if (state.resumed) return go_on(state);
  if (state.options.memory) {
    SOLSTICE_TRY(state.facts, state.store->last_fact());
  }
  SOLSTICE_TRY(state.report.run, state.store->begin_run(record_of(state)));
  return success();
}

Status check_place(const Session& state) {
  if (!state.resumed || state.resumed->events.empty()) return success();
  const RunRecord& run = state.resumed->run;
  if (run.machine != state.machine->name) {
    return fail(
        Code::bad_argument,
        fmt::format("run {} was made for {}, this is {}: go on where that is, or, where this is one, with --machine {}",
                    run.id, run.machine, state.machine->name, run.machine));
  }
  if (state.gpu || state.options.detached) return success();
  if (!is_of_gpu(*state.resumed)) return check_results_out(state);
  return fail(Code::bad_argument, fmt::format("run {} was measured on {}, and no GPU is here: times would be predicted",
                                              run.id, gpu_of(run)));
}

namespace {

// A run that had no GPU so far has one now.
Status time_original(Session& state) {
  if (state.eager.value <= 0 || state.tree.node(0).measurement) return success();
  search::Measurement original;
  original.state = TrialState::kVerified;
  original.time = state.eager;
  const size_t told = state.tree.events().size();
  state.tree.complete(0, std::move(original));
  return keep_events_since(state, told);
}

}  // namespace

Status restore_tree(Session& state) {
  if (!state.resumed || state.resumed->events.empty()) {
    state.tree = search::Tree(state.eager);
    return keep_events_since(state, 0);
  }
  const RunRecord& run = state.resumed->run;
  const auto build = run.versions.find("build");
  if (build != run.versions.end() && build->second != build_identity()) {
    state.report.warnings.push_back(
        "trials before the run was resumed are of another build of Solstice; finalists are verified and timed anew");
  }
  for (const store::StoredEvent& stored : state.resumed->events)
    SOLSTICE_CHECK(state.tree.apply(stored.event).context("resuming run " + run.id));
  SOLSTICE_CHECK(time_original(state));
  const std::vector<search::Event>& events = state.tree.events();
  state.report.trials_skipped = static_cast<int>(std::count_if(
      events.begin(), events.end(), [](const auto& event) { return event.kind == search::Event::Kind::kSkipped; }));
  if (!state.options.searched)
    state.progress.message(fmt::format("run {} goes on after {} trials", run.id, state.tree.trials()));
  return success();
}

Status keep_event(Session& state, size_t number, const TrialRecord* trial) {
  return state.store->add_event(state.report.run, number, state.tree.events()[number], trial);
}

Status keep_events_since(Session& state, size_t told) {
  for (size_t event = told; event < state.tree.events().size(); ++event)
    SOLSTICE_CHECK(keep_event(state, event, nullptr));
  return success();
}

size_t handed_over_at(const search::Tree& tree) {
  const std::vector<search::Event>& events = tree.events();
  const auto found = std::find_if(events.begin(), events.end(), [](const search::Event& event) {
    return event.kind == search::Event::Kind::kOpened || (event.proposal && event.proposal->by_model());
  });
  return static_cast<size_t>(found - events.begin());
}

size_t model_leads_since(const search::Tree& tree, const Json& options) {
  return std::max(handed_over_at(tree), static_cast<size_t>(options.at("model_since").as_int()));
}

void set_agent(const AgentChoice& agent, size_t event, Json& options) {
  const bool expert_led = options.at("led_by").as_string() == "expert";
  options.set("led_by", agent.wanted() ? "model" : "expert");
  if (!agent.wanted()) return;
  options.set("agent", agent.controller).set("agent_terms", to_json(agent.terms));
  if (expert_led) options.set("model_since", event);
}

bool handed_over(const search::Tree& tree) { return handed_over_at(tree) < tree.events().size(); }

void open_nodes_again(search::Tree& tree, const std::string& model) {
  const int first = !model.empty() && tree.best() ? 1 : 0;
  for (int id = first; id <= tree.trials(); ++id) {
    const std::optional<search::Proposal>& given_up = tree.node(id).given_up;
    const bool has_moves = model.empty() ? given_up.has_value() : !given_up || given_up->origin != model;
    if (has_moves) tree.open(id);
  }
}

Status open_nodes_again(Session& state) {
  const size_t told = state.tree.events().size();
  open_nodes_again(state.tree, state.agent ? state.agent->who() : "");
  return keep_events_since(state, told);
}

size_t taken_back_at(const search::Tree& tree) {
  using Kind = search::Event::Kind;
  const auto of_model = [&](const search::Event& event) {
    if (event.kind == Kind::kSpent) return event.proposal.has_value();
    if (event.kind == Kind::kProposed) return event.proposal->by_model();
    return event.kind == Kind::kMeasured && event.node > 0 && tree.node(event.node).proposal.by_model();
  };
  const std::vector<search::Event>& events = tree.events();
  return static_cast<size_t>(std::find_if(events.rbegin(), events.rend(), of_model).base() - events.begin());
}

}  // namespace solstice::flow
