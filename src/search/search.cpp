#include "search/search.h"

#include <algorithm>
#include <cmath>

namespace solstice::search {
namespace {

constexpr int kCalibration = 4;  // trials before a cost model is believed

bool is_prediction(const Measurement& m) { return m.state == TrialState::kPredicted; }

// Behind the last of these.
size_t after_predictions(const std::vector<Event>& events) {
  const auto last =
      std::find_if(events.rbegin(), events.rend(), [](const Event& e) { return e.measurement && is_prediction(*e.measurement); });
  return static_cast<size_t>(events.rend() - last);
}

// By the cost models: as whoever proposed it said, else as the evaluator found it; 0: they have not been asked.
Seconds prediction_of(const Node& node) {
  Seconds out = node.proposal.predicted;
  if (out.value > 0) return out;
  for (const Json& kernel : node.measurement->record.at("costs").items()) out += Seconds(kernel.at("seconds").as_double());
  return out;
}

}  // namespace

Seconds Search::best(const Tree& tree) const {
  const Node* best = tree.best();
  return !best || (budget_.measured && is_prediction(*best->measurement)) ? Seconds(0) : best->measurement->time;
}

// What the tree had before this search, as whoever made it had counted.
Status Search::count_before() {
  Tree seen(Seconds(0));
  const size_t since = std::max(budget_.since, budget_.measured ? after_predictions(tree_.events()) : 0);
  const auto begin = [&] { watch_.emplace(budget_.rule, tree_.original(), budget_.bound, best(seen)); };
  for (size_t number = 0; number < tree_.events().size(); ++number) {
    if (number == since) begin();
    const Event& event = tree_.events()[number];
    SOLSTICE_CHECK(seen.apply(event));
    if (watch_ && is_result(event)) watch_->add(best(seen));
  }
  if (!watch_) begin();
  return success();
}

Search::Search(Tree& tree, const Participants& with, const Budget& budget, int lookahead, const Observer& observer)
    : tree_(tree),
      with_(with),
      budget_(budget),
      lookahead_(lookahead),
      observer_(observer),
      deadline_(budget.time),
      recorded_(tree.events().size()) {
  for (const Node& node : tree.nodes()) {
    if (node.in_flight) with_.evaluator.start(node);
  }
}

Result<std::optional<Stop>> Search::step(const std::function<bool()>& interrupted) {
  if (stopped_) return stopped_;
  if (!watch_) SOLSTICE_CHECK(count_before());
  stopped_ = enough(interrupted);
  if (stopped_) return stopped_;
  SOLSTICE_CHECK(fill());
  stopped_ = nothing_to_wait_for();
  if (!stopped_) SOLSTICE_CHECK(finish_one());
  return stopped_;
}

Status Search::fill() {
  while (!refused_ && !deadline_.passed() && tree_.in_flight() < lookahead_) {
    SOLSTICE_TRY(const std::optional<Decision> decision, with_.policy.decide(tree_));
    if (!decision || (!decision->again && tree_.trials() >= budget_.trials)) return success();
    const Result<const Node*> node = decision->again ? measure_again(*decision) : derive(*decision);
    if (!node.ok()) SOLSTICE_CHECK(end_at(node.error()));
    SOLSTICE_CHECK(record());
    if (node.ok() && *node) with_.evaluator.start(**node);
  }
  return success();
}

Status Search::finish_one() {
  SOLSTICE_TRY(Landed landed, with_.evaluator.land());
  const size_t told = tree_.events().size();
  if (landed.measurement)
    tree_.complete(landed.node, std::move(*landed.measurement));
  else
    tree_.lose(landed.node);
  if (tree_.events().size() > told) watch_->add(best(tree_));
  SOLSTICE_CHECK(record());
  if (observer_.finished) observer_.finished(tree_, tree_.node(landed.node));
  return success();
}

std::optional<Stop> Search::enough(const std::function<bool()>& interrupted) const {
  if (interrupted()) return Stop::kInterrupted;
  if (const std::optional<Stop> stop = watch_->ends()) return stop;
  const bool behind = budget_.lost.value > 0 && best(tree_) > budget_.lost;
  return behind && watch_->trials() >= budget_.rule.least ? std::optional(Stop::kLost) : std::nullopt;
}

std::optional<Stop> Search::nothing_to_wait_for() const {
  if (refused_ == Code::interrupted) return Stop::kInterrupted;
  if (deadline_.passed() && (!budget_.finish || tree_.in_flight() == 0)) return Stop::kTime;
  if (tree_.in_flight() > 0) return std::nullopt;
  if (refused_) return refused_ == Code::over_budget ? Stop::kOverBudget : Stop::kProposerFailed;
  return tree_.trials() >= budget_.trials ? Stop::kTrials : Stop::kExhausted;
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
  SOLSTICE_TRY(std::optional<Proposal> proposal, with_.proposer.propose(tree_, decision.node));
  if (!proposal || proposal->program.empty() || tree_.contains(proposal->program)) {
    tree_.spend(decision.node, std::move(proposal));
    return nullptr;
  }
  proposal->parent = decision.node;
  proposal->precision = decision.precision;
  if (!hopeless(*proposal)) return tree_.add(std::move(*proposal));
  if (observer_.skipped) observer_.skipped(*proposal);
  tree_.skip(std::move(*proposal));
  return nullptr;
}

Status Search::record() {
  for (; recorded_ < tree_.events().size(); ++recorded_) {
    if (observer_.recorded) SOLSTICE_CHECK(observer_.recorded(tree_, recorded_));
  }
  return success();
}

// A measurement of an earlier run speaks for itself. A cost model is believed only
// as far as its luckiest prediction in this run: if even that scale leaves the proposal behind the best, nothing is to be gained.
bool Search::hopeless(const Proposal& proposal) const {
  const std::optional<Seconds> best = to_beat();
  if (!best || budget_.hopeless <= 0) return false;
  const Seconds limit = *best * budget_.hopeless;
  if (proposal.known) return *proposal.known > limit;
  double luckiest = 0;
  int seen = 0;
  for (const Node& node : tree_.nodes()) {
    const Seconds predicted = node.usable() ? prediction_of(node) : Seconds(0);
    if (predicted.value <= 0) continue;
    const double ratio = node.measurement->time / predicted;
    luckiest = seen++ == 0 ? ratio : std::min(luckiest, ratio);
  }
  const double better = std::exp2(std::max(0.0, proposal.remembered));  // than the cost model says, by memory
  return seen >= kCalibration && proposal.predicted * luckiest > limit * better;
}

// The best so far; before anything was measured, what is known of the trials in flight.
std::optional<Seconds> Search::to_beat() const {
  if (const Seconds time = best(tree_); time.value > 0) return time;
  std::optional<Seconds> out;
  for (const Node& node : tree_.nodes()) {
    const std::optional<Seconds>& known = node.proposal.known;
    if (node.in_flight && known && (!out || *known < *out)) out = known;
  }
  return out;
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
