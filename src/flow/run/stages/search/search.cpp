#include "flow/run/stages/search/search.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "base/process/interrupt.h"
#include "base/time_text.h"
#include "flow/run/agent/handover.h"
#include "flow/run/stages/search/budget.h"
#include "flow/run/stages/search/given.h"
#include "flow/run/stages/search/other_arithmetic.h"
#include "flow/run/stages/search/restore.h"
#include "flow/run/state/trial_of.h"
#include "record/diagnosis/diagnosis_time.h"

namespace solstice::flow {
namespace {

// Time of a run's own trials.
Seconds own_time(const search::Tree& tree) {
  Seconds out{0};
  for (const search::Event& event : tree.events()) {
    if (event.node > 0 && event.measurement) out += event.measurement->cost;
  }
  return out;
}

// Within the search's own time, but for what was waited for beside it.
void add_diagnosis_time(Run& run, size_t since) {
  Seconds all, waited;
  const std::vector<search::Event>& events = run.tree.events();
  for (size_t i = since; i < events.size(); ++i) {
    const Json* const found = events[i].measurement ? events[i].measurement->record.find("diagnosing") : nullptr;
    if (!found) continue;
    const Result<DiagnosisTime> time = from_json<DiagnosisTime>(*found);
    if (!time.ok()) continue;  // of another version
    all += time->total();
    waited += time->waited;
  }
  if (all.value <= 0) return;
  run.report.timings[kDiagnosisTime] = all;
  run.report.timings[kDiagnosisWaited] = waited;
}

Yardstick yardstick_of(const Measurable& measurable) {
  return {measurable.bounds.practical(), measurable.inputs.original, measurable.opened.gpu};
}

void tell_trial(Run& run, const Measurable& measurable, const search::Node& node, const Deadline& deadline) {
  if (!node.measurement) return;  // its result does not come
  const bool predicted = !measurable.opened.gpu;
  TrialNews news{node.id, node.proposal.reason, enum_name(node.measurement->state), std::nullopt, predicted};
  if (node.usable()) news.time = node.measurement->time;
  Standing standing = standing_of(run, measurable);
  if (!run.options.search.in_turns) standing.left = deadline.left();
  run.progress.trial_finished(news, standing);
}

void warn_of_failures(Run& run, const Searched& searched) {
  if (searched.agent_failed && searched.agent_failed->code != Code::interrupted) {
    warn_now(run, fmt::format("{} goes no further: {}", run.agent->title(), searched.agent_failed->text()));
  }
  if (searched.policy_failed) {
    warn_now(run, fmt::format("the policy goes no further: {}; `--resume {} --policy greedy` goes on without it",
                              searched.policy_failed->text(), run.report.run));
  }
}

// One line on the whole search.
std::string summary_line(const Run& run, search::Stop stop) {
  const search::Node* best = run.tree.best();
  const std::string trials = counted(trials_done(run.tree), "trial");
  const std::string skipped =
      run.report.trials_skipped ? fmt::format(", {} skipped: no gain expected", run.report.trials_skipped) : "";
  const std::string why = enum_name(stop);
  if (!best) return fmt::format("{}, none usable ({}){}", trials, why, skipped);
  const char* predicted = best->measurement->state == TrialState::kPredicted ? "predicted " : "";
  return fmt::format("{}, best {}{} ({}){}", trials, predicted, time_text(best->measurement->time), why, skipped);
}

// What import and planning took counts, of planning but for half of the time.
Seconds time_for(const Run& run, const Planned& planned) {
  const Seconds budget = run.options.search.budget - run.imported;
  return std::max(budget - planned.took, budget * 0.5);
}

std::string detail_of(const Run& run) {
  if (run.options.search.searched) return "took its turns";
  const std::string with = run.agent ? ", " + run.agent->title() : "";
  return fmt::format("at most {} in {}{}", counted(run.options.search.trials, "trial"),
                     time_text(run.options.search.budget), with);
}

}  // namespace

Status record_event(Run& run, size_t number, bool measured) {
  const search::Event& event = run.tree.events()[number];
  if (event.kind != search::Event::Kind::kMeasured) return keep_event(run, number, nullptr);
  const TrialRecord trial = trial_of(run.report.run, run.tree.node(event.node), measured);
  return keep_event(run, number, &trial);
}

Searching::Searching(Run& run, const Planned& planned, const Measurable& measurable)
    : run_(run),
      planned_(planned),
      measurable_(measurable),
      policy_(std::move(run.policy)),
      deadline_(time_for(run, planned)),
      observer_(observer()) {
  // A model's program is finished: it took long to make. Turns count the time of a problem's own trials.
  const bool ends = !run.agent && !run.options.search.in_turns;
  run.search_is_over = [this, ends] { return interrupted() || (ends && deadline_.passed()); };
}

// Compiling overlaps measuring. Candidates ahead are chosen without the results that are still to come.
int Searching::lookahead() const {
  constexpr int kEach = 4, kMore = 2;
  if (!measurable_.opened.gpu) return 2;
  return kMore + kEach * (measurable_.fleet ? measurable_.fleet->size() : 1);
}

search::Participants Searching::participants() const { return {*policy_, *planned_.expert, *measurable_.device}; }

search::Observer Searching::observer() {
  search::Observer out;
  out.finished = [this](const search::Tree&, const search::Node& node) {
    tell_trial(run_, measurable_, node, deadline_);
  };
  out.recorded = [this](const search::Tree&, size_t number) {
    return record_event(run_, number, measurable_.opened.gpu);
  };
  out.skipped = [this](const search::Proposal&) { ++run_.report.trials_skipped; };
  out.failed = [this](const Error& error) { searched_.policy_failed = error; };
  // A question that had to end with the search is no failure of the model.
  if (run_.agent) {
    out.refused = [this](const Error& error) {
      if (error.code != Code::deadline || !deadline_.passed()) searched_.agent_failed = error;
    };
  }
  return out;
}

// A program's own schedule is the first trial of its search.
Status Searching::try_given() {
  const std::string& schedule = measurable_.imported.schedule;
  if (schedule.empty() || run_.tree.trials() > 0 || run_.options.search.trials < 1) return success();
  Given given(schedule);
  search::Budget budget;
  budget.time = deadline_.left();
  budget.trials = 1;
  budget.finish = true;
  SOLSTICE_CHECK(
      search::run(run_.tree, {given, given, *measurable_.device}, budget, 1, observer_, [] { return interrupted(); }));
  return success();
}

Status Searching::begin() {
  SOLSTICE_CHECK(try_given());
  if (!run_.agent) SOLSTICE_CHECK(open_nodes_again(run_));
  search::Budget budget = expert_budget(run_, yardstick_of(measurable_));
  if (!run_.options.search.in_turns) budget.time = deadline_.left();
  if (!measurable_.opened.gpu) budget.finish = true;       // they are given up then, and have their predictions
  const bool over = run_.agent && handed_over(run_.tree);  // to the model, before the run was interrupted
  // The expert's first, several at once; where it had them, what is in flight comes in.
  if (over) budget = search::Budget{.time = budget.time, .trials = 0};
  if (run_.agent) budget.trials = std::min(budget.trials, *run_.options.agent.terms.expert);
  search_.emplace(run_.tree, participants(), budget, over ? 1 : lookahead(), observer_);
  return success();
}

Result<std::optional<search::Stop>> Searching::step() {
  const SearchOptions& options = run_.options.search;
  if (options.in_turns && own_time(run_.tree) >= options.budget) return std::optional(search::Stop::kTime);
  return search_->step([] { return interrupted(); });
}

// The trials after the expert's, which are a language model's: each knows the results of all before it.
Result<search::Stop> Searching::go_on_with_agent(search::Stop stop) {
  const bool over = stop == search::Stop::kTime || stop == search::Stop::kInterrupted ||
                    stop == search::Stop::kNearBound || stop == search::Stop::kPolicyFailed;
  if (over || run_.tree.trials() >= run_.options.search.trials) return stop;
  SOLSTICE_CHECK(open_nodes_again(run_));
  search::Budget budget = agent_budget(run_, yardstick_of(measurable_));
  budget.time = deadline_.left();
  const search::Participants with = participants();
  Led policy = run_.agent->policy(with.policy);
  SOLSTICE_TRY(stop, search::run(run_.tree, {policy, run_.agent->proposer(), with.evaluator}, budget, 1, observer_,
                                 [] { return interrupted(); }));
  return stop == search::Stop::kProposerFailed && !searched_.agent_failed ? search::Stop::kTime : stop;
}

Result<search::Stop> Searching::finish() {
  while (true) {
    SOLSTICE_TRY(const std::optional<search::Stop> stop, step());
    if (!stop) continue;
    SOLSTICE_TRY(searched_.stop, run_.agent ? go_on_with_agent(*stop) : Result<search::Stop>(*stop));
    return searched_.stop;
  }
}

Result<std::optional<int>> Searching::try_other_arithmetic(int refused) {
  constexpr int kMost = 4;
  constexpr Seconds kLeast{20};  // a budget that is used up does not keep a result that is right from being found
  OtherArithmetic exact(*planned_.expert, refused);
  search::Budget budget;
  budget.time = std::max(deadline_.left(), kLeast);
  budget.trials = run_.tree.trials() + kMost;
  budget.measured = true;
  SOLSTICE_CHECK(
      search::run(run_.tree, {exact, exact, *measurable_.device}, budget, 1, observer_, [] { return interrupted(); }));
  return exact.usable(run_.tree);
}

Result<std::unique_ptr<Searching>> begin_search(Run& run, const Planned& planned, const Measurable& measurable) {
  SOLSTICE_CHECK(restore_tree(run, measurable.inputs.original.time));
  if (run.options.search.searched) return std::unique_ptr<Searching>();  // what was in flight is not built again
  auto out = std::make_unique<Searching>(run, planned, measurable);
  SOLSTICE_CHECK(out->begin());
  return out;
}

// The option that lets a search go on which ended so; "" where there is none.
const char* option_beyond(search::Stop stop) {
  switch (stop) {
    case search::Stop::kTrials:
    case search::Stop::kTime:
    case search::Stop::kShared:
      return "; --budget gives its search more";
    case search::Stop::kNearBound:
      return "; --eps 0 lets it go on";
    case search::Stop::kWindow:
      return "; --window 0, or a larger one, lets it go on";
    case search::Stop::kLittleToGain:
      return "; --roi 0 lets it go on";
    case search::Stop::kOverBudget:
      return "; --max-tokens and --max-cost give its model more";
    default:
      return "";
  }
}

// Of a run that went on after `before` trials, and tried nothing.
void tell_nothing_left(Run& run, int before, search::Stop stop) {
  if (!run.stored.resumed || before == 0 || run.tree.trials() > before || stop == search::Stop::kInterrupted) return;
  run.progress.message(fmt::format("run {} had ended: nothing is left to do ({}){}", run.report.run, enum_name(stop),
                                   option_beyond(stop)));
}

Result<Searched> search_candidates(Run& run, const Planned& planned, Measurable& measurable,
                                   std::unique_ptr<Searching>& searching) {
  Searched out;
  const std::optional<search::Stop> over = run.options.search.searched;
  // Of this process; of a search that was over before, all.
  const size_t since = run.stored.resumed && !over ? run.stored.resumed->events.size() : 0;
  const Status done = stage(run, "search", detail_of(run), [&]() -> Result<std::string> {
    SOLSTICE_TRY(searching, begin_search(run, planned, measurable));
    if (over) {
      out.stop = *over;
    } else {
      const int before = run.tree.trials();
      SOLSTICE_CHECK(searching->finish());
      out = searching->so_far();
      tell_nothing_left(run, before, out.stop);
    }
    warn_of_failures(run, out);
    return summary_line(run, out.stop);
  });
  close_fleet(run, &measurable);
  if (over) run.report.timings["search"] = own_time(run.tree);
  add_diagnosis_time(run, since);
  if (!done.ok()) return done.error();
  return out;
}

}  // namespace solstice::flow
