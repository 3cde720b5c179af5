#include "search/search.h"

#include <algorithm>
#include <deque>

namespace solstice::search {
namespace {

constexpr int kCalibration = 4;  // trials before a cost model is believed

class Loop {
 public:
  Loop(Tree& tree, Proposer& proposer, Evaluator& evaluator, const Budget& budget)
      : tree_(tree), proposer_(proposer), evaluator_(evaluator), budget_(budget), deadline_(budget.time) {}

  // Keeps `lookahead` trials in flight, so that compiling overlaps measuring.
  Status fill(int lookahead, const Observer& observer) {
    while (static_cast<int>(flight_.size()) < lookahead && static_cast<int>(tree_.nodes().size()) < budget_.trials) {
      SOLSTICE_TRY(std::optional<Proposal> proposal, proposer_.propose(tree_));
      if (!proposal) return success();
      if (hopeless(*proposal)) {
        if (observer.skipped) observer.skipped(*proposal);
        continue;
      }
      const Node* node = tree_.add(std::move(*proposal));
      if (!node) continue;  // proposed before: the proposer was told by Tree::contains and chose to repeat itself
      flight_.push_back(node->id);
      evaluator_.start(*node);
    }
    return success();
  }

  Status finish_one(const Observer& observer) {
    const int id = flight_.front();
    flight_.pop_front();
    const Node* before = tree_.best();
    const Seconds best = before ? before->measurement->time : Seconds(0);
    SOLSTICE_TRY(Measurement measurement, evaluator_.finish(tree_.node(id)));
    tree_.complete(id, std::move(measurement));
    const Node* after = tree_.best();
    const bool gained = after && (!before || after->measurement->time < best * 0.995);
    without_gain_ = gained ? 0 : without_gain_ + 1;
    ++finished_;
    if (observer.finished) observer.finished(tree_, tree_.node(id));
    return success();
  }

  std::optional<Stop> should_stop(const std::function<bool()>& interrupted) const {
    if (interrupted()) return Stop::kInterrupted;
    if (flight_.empty()) {
      return static_cast<int>(tree_.nodes().size()) >= budget_.trials ? Stop::kTrials : Stop::kExhausted;
    }
    if (deadline_.passed()) return Stop::kTime;
    const Node* best = tree_.best();
    if (best && finished_ >= budget_.least && budget_.bound.value > 0 && best->measurement->time < budget_.bound * budget_.near)
      return Stop::kNearBound;
    if (best && finished_ >= budget_.least && budget_.lost.value > 0 && best->measurement->time > budget_.lost) return Stop::kLost;
    if (best && budget_.patience > 0 && without_gain_ >= budget_.patience) return Stop::kPatience;
    return std::nullopt;
  }

 private:
  // A measurement of an earlier run speaks for itself. A cost model is believed only as far as its luckiest prediction
  // in this run: if even that scale leaves the proposal behind the best, nothing is to be gained.
  bool hopeless(const Proposal& proposal) const {
    const std::optional<Seconds> best = to_beat();
    if (!best || budget_.hopeless <= 0) return false;
    const Seconds limit = *best * budget_.hopeless;
    if (proposal.known) return *proposal.known > limit;
    double luckiest = 0;
    int seen = 0;
    for (const Node& node : tree_.nodes()) {
      if (!node.usable() || node.proposal.predicted.value <= 0) continue;
      const double ratio = node.measurement->time / node.proposal.predicted;
      luckiest = seen++ == 0 ? ratio : std::min(luckiest, ratio);
    }
    return seen >= kCalibration && proposal.predicted * luckiest > limit;
  }

  // The best so far; before anything was measured, what is known of the trials in flight.
  std::optional<Seconds> to_beat() const {
    if (const Node* best = tree_.best()) return best->measurement->time;
    std::optional<Seconds> out;
    for (const Node& node : tree_.nodes()) {
      const std::optional<Seconds>& known = node.proposal.known;
      if (known && (!out || *known < *out)) out = known;
    }
    return out;
  }

  Tree& tree_;
  Proposer& proposer_;
  Evaluator& evaluator_;
  const Budget& budget_;
  Deadline deadline_;
  std::deque<int> flight_;
  int without_gain_ = 0;
  int finished_ = 0;
};

}  // namespace

std::vector<const char*> enum_names(Stop) { return {"trials", "time", "exhausted", "near_bound", "patience", "lost", "interrupted"}; }

Result<Stop> run(Tree& tree, Proposer& proposer, Evaluator& evaluator, const Budget& budget, int lookahead, const Observer& observer,
                 const std::function<bool()>& interrupted) {
  Loop loop(tree, proposer, evaluator, budget);
  while (true) {
    SOLSTICE_CHECK(loop.fill(lookahead, observer));
    if (const std::optional<Stop> stop = loop.should_stop(interrupted)) return *stop;
    SOLSTICE_CHECK(loop.finish_one(observer));
  }
}

}  // namespace solstice::search
