#include "search/search.h"

#include <algorithm>
#include <cmath>

namespace solstice::search {
namespace {

constexpr int kCalibration = 4;  // trials before a cost model is believed

Seconds time_of(const Node* best) { return best ? best->measurement->time : Seconds(0); }

bool is_result(const Event& event) { return event.node > 0 && (event.kind == Event::Kind::kMeasured || event.kind == Event::Kind::kLost); }

// By the cost models: as whoever proposed it said, else as the evaluator found it; 0: they have not been asked.
Seconds prediction_of(const Node& node) {
  Seconds out = node.proposal.predicted;
  if (out.value > 0) return out;
  for (const Json& kernel : node.measurement->record.at("costs").items()) out += Seconds(kernel.at("seconds").as_double());
  return out;
}

}  // namespace

void Search::Finished::count(const Event& result, Seconds before, Seconds after) {
  const bool gained = after.value > 0 && (before.value <= 0 || after < before * (1 - kNoise));
  without_gain = gained ? 0 : without_gain + 1;
  ++trials;
  outlook.add(result.measurement ? result.measurement->cost.value : 0, after);
}

// What the tree had before this search, as whoever made it had counted.
Status Search::count_before() {
  Tree seen(Seconds(0));
  const auto begin = [&] {
    const Seconds best = time_of(seen.best());
    finished_ = Finished{0, 0, Outlook(best.value > 0 ? best : tree_.original(), budget_.bound, usual_scheduling())};
  };
  for (size_t number = 0; number < tree_.events().size(); ++number) {
    if (number == budget_.since) begin();
    const Event& event = tree_.events()[number];
    const Seconds before = time_of(seen.best());
    SOLSTICE_CHECK(seen.apply(event));
    if (finished_ && is_result(event)) finished_->count(event, before, time_of(seen.best()));
  }
  if (!finished_) begin();
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
  if (!finished_) SOLSTICE_CHECK(count_before());
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
  const Seconds before = time_of(tree_.best());
  SOLSTICE_TRY(Landed landed, with_.evaluator.land());
  const size_t told = tree_.events().size();
  if (landed.measurement)
    tree_.complete(landed.node, std::move(*landed.measurement));
  else
    tree_.lose(landed.node);
  if (tree_.events().size() > told) finished_->count(tree_.events().back(), before, time_of(tree_.best()));
  SOLSTICE_CHECK(record());
  if (observer_.finished) observer_.finished(tree_, tree_.node(landed.node));
  return success();
}

std::optional<Stop> Search::enough(const std::function<bool()>& interrupted) const {
  if (interrupted()) return Stop::kInterrupted;
  const Node* best = tree_.best();
  if (!best) return std::nullopt;
  const Seconds time = best->measurement->time;
  if (finished_->trials >= budget_.least) {
    if (time < budget_.bound * budget_.near) return Stop::kNearBound;
    if (budget_.lost.value > 0 && time > budget_.lost) return Stop::kLost;
    if (finished_->outlook.gain() < budget_.roi) return Stop::kLittleToGain;
  }
  if (budget_.patience > 0 && finished_->without_gain >= budget_.patience) return Stop::kPatience;
  return std::nullopt;
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
  if (const Node* best = tree_.best()) return best->measurement->time;
  std::optional<Seconds> out;
  for (const Node& node : tree_.nodes()) {
    const std::optional<Seconds>& known = node.proposal.known;
    if (known && (!out || *known < *out)) out = known;
  }
  return out;
}

std::vector<const char*> enum_names(Stop) {
  return {"trials",      "time",        "exhausted",       "near_bound", "patience",      "lost",
          "interrupted", "over_budget", "proposer_failed", "shared",     "little_to_gain"};
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
