#include "search/search.h"

#include <algorithm>
#include <cmath>

#include "search/attempt.h"

namespace solstice::search {
namespace {

constexpr int kCalibration = 4;  // trials before a cost model is believed

bool is_prediction(const Measurement& m) { return m.state == TrialState::kPredicted; }

// Behind the last of these.
size_t after_predictions(const std::vector<Event>& events) {
  const auto last = std::find_if(events.rbegin(), events.rend(),
                                 [](const Event& e) { return e.measurement && is_prediction(*e.measurement); });
  return static_cast<size_t>(events.rend() - last);
}

// In the order in which they were started.
std::vector<int> in_flight(const Tree& tree) {
  std::vector<int> out;
  for (auto event = tree.events().rbegin(); event != tree.events().rend(); ++event) {
    const bool starts = event->kind == Event::Kind::kProposed || event->kind == Event::Kind::kAgain;
    const bool counted = std::find(out.begin(), out.end(), event->node) != out.end();
    if (starts && !counted && tree.node(event->node).in_flight) out.push_back(event->node);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

// By the cost models: as whoever proposed it said, else as the evaluator found it; 0: they have not been asked.
Seconds prediction_of(const Node& node) {
  Seconds out = node.proposal.predicted;
  if (out.value > 0) return out;
  for (const Json& kernel : node.measurement->record.at("costs").items())
    out += Seconds(kernel.at("seconds").as_double());
  return out;
}

// Of those that count: who measures takes no prediction for one.
Timed best_of(const Tree& tree, const Budget& budget) {
  const Node* best = tree.best();
  return !best || (budget.measured && is_prediction(*best->measurement)) ? Timed() : timed(*best);
}

// As the one who made it had counted, where it was killed or waits for a batch.
Result<Tally> tally_of(const Tree& tree, const Budget& budget) {
  Tree seen(Seconds(0));
  std::vector<int> late;
  std::optional<Tally> out;
  const size_t all = tree.events().size(), led = std::min(budget.since, all);
  const size_t since = std::max(led, budget.measured ? after_predictions(tree.events()) : 0);
  for (size_t number = 0; number <= all; ++number) {
    if (number == led) late = in_flight(seen);
    if (number == since) out = Tally{Watch(budget.rule, tree.original(), budget.bound, best_of(seen, budget)), late};
    if (number == all) break;
    const Event& event = tree.events()[number];
    SOLSTICE_CHECK(seen.apply(event));
    if (!is_result(event)) continue;
    if (out)
      out->add(event.node, best_of(seen, budget));
    else
      std::erase(late, event.node);
  }
  return *std::move(out);  // `since` is none behind the last event
}

std::optional<Stop> stop_of(const Watch& watch, const Tree& tree, const Budget& budget) {
  if (const std::optional<Stop> stop = watch.ends()) return stop;
  const bool behind = budget.lost.value > 0 && best_of(tree, budget).time > budget.lost;
  return behind && watch.trials() >= budget.rule.least ? std::optional(Stop::kLost) : std::nullopt;
}

// The best so far; before anything was measured, what is known of the trials in flight.
std::optional<Seconds> to_beat(const Tree& tree, const Budget& budget) {
  if (const Seconds time = best_of(tree, budget).time; time.value > 0) return time;
  std::optional<Seconds> out;
  for (const Node& node : tree.nodes()) {
    const std::optional<Seconds>& known = node.proposal.known;
    if (node.in_flight && known && (!out || *known < *out)) out = known;
  }
  return out;
}

}  // namespace

void Tally::add(int node, const Timed& best) {
  if (std::erase(late, node) > 0)
    watch.learn(best);
  else
    watch.add(best);
}

Result<std::optional<Stop>> has_enough(const Tree& tree, const Budget& budget) {
  SOLSTICE_TRY(const Tally tally, tally_of(tree, budget));
  return stop_of(tally.watch, tree, budget);
}

Search::Search(Tree& tree, const Participants& with, const Budget& budget, int lookahead, const Observer& observer)
    : tree_(tree),
      with_(with),
      budget_(budget),
      lookahead_(lookahead),
      observer_(observer),
      deadline_(budget.time),
      recorded_(tree.events().size()) {
  for (const int node : in_flight(tree)) with_.evaluator.start(tree.node(node));
}

Result<std::optional<Stop>> Search::step(const std::function<bool()>& interrupted) {
  if (stopped_) return stopped_;
  if (!tally_) {
    SOLSTICE_TRY(tally_, tally_of(tree_, budget_));
  }
  stopped_ = enough(interrupted);
  if (stopped_) return stopped_;
  SOLSTICE_CHECK(fill());
  stopped_ = nothing_to_wait_for();
  if (!stopped_) SOLSTICE_CHECK(finish_one());
  return stopped_;
}

Status Search::fill() {
  while (!refused_ && !policy_failed_ && !deadline_.passed() && tree_.in_flight() < lookahead_) {
    const Result<std::optional<Decision>> decided = next();
    if (!decided.ok()) return end_policy_at(decided.error());
    const std::optional<Decision>& decision = *decided;
    if (!decision || (!decision->again && tree_.trials() >= budget_.trials)) return success();
    const Result<const Node*> node = decision->again ? measure_again(*decision) : derive(*decision);
    if (!node.ok()) SOLSTICE_CHECK(end_at(node.error()));
    SOLSTICE_CHECK(record());
    if (node.ok() && *node) with_.evaluator.start(**node);
  }
  return success();
}

// An attempt that was begun comes to its end before there is another.
Result<std::optional<Decision>> Search::next() {
  if (const std::optional<Decision> open = open_decision(tree_)) return open;
  return with_.policy.decide(tree_);
}

Status Search::finish_one() {
  SOLSTICE_TRY(Landed landed, with_.evaluator.land());
  const size_t told = tree_.events().size();
  if (landed.measurement)
    tree_.complete(landed.node, std::move(*landed.measurement));
  else
    tree_.lose(landed.node);
  if (tree_.events().size() > told) tally_->add(landed.node, best_of(tree_, budget_));
  SOLSTICE_CHECK(record());
  if (observer_.finished) observer_.finished(tree_, tree_.node(landed.node));
  return success();
}

std::optional<Stop> Search::enough(const std::function<bool()>& interrupted) const {
  return interrupted() ? std::optional(Stop::kInterrupted) : stop_of(tally_->watch, tree_, budget_);
}

std::optional<Stop> Search::nothing_to_wait_for() const {
  if (refused_ == Code::interrupted) return Stop::kInterrupted;
  if (deadline_.passed() && (!budget_.finish || tree_.in_flight() == 0)) return Stop::kTime;
  if (tree_.in_flight() > 0) return std::nullopt;
  if (policy_failed_) return Stop::kPolicyFailed;
  if (refused_) return refused_ == Code::over_budget ? Stop::kOverBudget : Stop::kProposerFailed;
  if (tree_.trials() >= budget_.trials) return Stop::kTrials;
  return open_nodes(tree_).empty() ? Stop::kExhausted : Stop::kPolicyEnded;
}

Status Search::end_policy_at(const Error& error) {
  if (kind_of(error.code) == ErrorKind::kInternal || !observer_.failed) return error;
  policy_failed_ = true;
  observer_.failed(error);
  return success();
}

Status Search::end_at(const Error& error) {
  if (kind_of(error.code) == ErrorKind::kInternal || !observer_.refused) return error;
  refused_ = error.code;
  observer_.refused(error);
  return success();
}

Result<const Node*> Search::measure_again(const Decision& decision) {
  tree_.again(decision.node, decision.precision);
  return &tree_.node(decision.node);
}

// Null: nothing came of it, but the tree knows more than before.
Result<const Node*> Search::derive(const Decision& decision) {
  SOLSTICE_TRY(std::optional<Proposal> answer, with_.proposer.propose(tree_, decision.node));
  const Taken taken = take(tree_, decision, std::move(answer), budget_);
  if (taken == Taken::kSkipped && observer_.skipped) observer_.skipped(*tree_.events().back().proposal);
  return taken == Taken::kAdded ? &tree_.nodes().back() : nullptr;
}

Status Search::record() {
  for (; recorded_ < tree_.events().size(); ++recorded_) {
    if (observer_.recorded) SOLSTICE_CHECK(observer_.recorded(tree_, recorded_));
  }
  return success();
}

Taken take(Tree& tree, const Decision& decision, std::optional<Proposal> answer, const Budget& budget) {
  if (answer && !answer->role.empty()) {
    answer->precision = decision.precision;
    tree.note(decision.node, *std::move(answer));
    return Taken::kNoted;
  }
  if (!answer || answer->program.empty() || tree.contains(answer->program)) {
    tree.spend(decision.node, std::move(answer));
    return Taken::kSpent;
  }
  answer->parent = decision.node;
  answer->precision = decision.precision;
  if (is_hopeless(tree, *answer, budget)) {
    tree.skip(*std::move(answer));
    return Taken::kSkipped;
  }
  tree.add(*std::move(answer));
  return Taken::kAdded;
}

bool is_hopeless(const Tree& tree, const Proposal& proposal, const Budget& budget) {
  const std::optional<Seconds> best = to_beat(tree, budget);
  if (!best || budget.hopeless <= 0) return false;
  const Seconds limit = *best * budget.hopeless;
  if (proposal.known) return *proposal.known > limit;
  double luckiest = 0;
  int seen = 0;
  for (const Node& node : tree.nodes()) {
    const bool counts = node.usable() && !(budget.measured && is_prediction(*node.measurement));
    const Seconds predicted = counts ? prediction_of(node) : Seconds(0);
    if (predicted.value <= 0) continue;
    const double ratio = node.measurement->time / predicted;
    luckiest = seen++ == 0 ? ratio : std::min(luckiest, ratio);
  }
  const double better = std::exp2(std::max(0.0, proposal.remembered));  // than the cost model says, by memory
  return seen >= kCalibration && proposal.predicted * luckiest > limit * better;
}

void InOrder::start(const Node& node) {
  if (std::find(started_.begin(), started_.end(), node.id) != started_.end()) return;
  started_.push_back(node.id);
  begin(node);
}

Result<Landed> InOrder::land() {
  if (started_.empty()) return fail(Code::internal, "a trial was waited for that was never started");
  const int node = started_.front();
  started_.pop_front();
  SOLSTICE_TRY(Measurement measurement, finish(node));
  return Landed{node, std::move(measurement)};
}

Result<Stop> run(Tree& tree, const Participants& with, const Budget& budget, int lookahead, const Observer& observer,
                 const std::function<bool()>& interrupted) {
  Search search(tree, with, budget, lookahead, observer);
  while (true) {
    SOLSTICE_TRY(const std::optional<Stop> stop, search.step(interrupted));
    if (stop) return *stop;
  }
}

}  // namespace solstice::search
