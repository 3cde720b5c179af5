#include "search/replay/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>

#include "search/make_policy.h"
#include "search/policy.h"

namespace solstice::search {
namespace {

struct Known {
  Precision precision;
  Measurement measurement;
};

// The record by program: what was derived from it, in order, and what was measured of it. What was in flight when the
// search ended has no result, and is left out.
class Answers {
 public:
  explicit Answers(const Record& record) {
    for (const Node& node : record.tree().nodes()) trials_ += node.id > 0 && has_come_in(node) ? 1 : 0;
    std::vector<std::string> names = {""};
    std::vector<Precision> precision = {Precision::kUsual};
    for (const Event& event : record.run().events) {
      const auto node = static_cast<size_t>(event.node);
      if (event.kind == Event::Kind::kProposed) {
        names.push_back(event.proposal->program);
        precision.push_back(event.proposal->precision);
      }
      const bool tried = event.kind == Event::Kind::kProposed && has_come_in(record.tree().node(event.node));
      if (tried || event.kind == Event::Kind::kSkipped) {
        children_[names[static_cast<size_t>(event.proposal->parent)]].push_back(&event);
      }
      if (event.kind == Event::Kind::kAgain) precision[node] = *event.precision;
      if (event.kind == Event::Kind::kMeasured && node > 0)
        keep(results_[names[node]], {precision[node], *event.measurement});
      if (event.kind == Event::Kind::kSpent) spent_.insert(names[node]);
      if (event.kind == Event::Kind::kOpened) spent_.erase(names[node]);
    }
  }

  int trials() const { return trials_; }

  // The next that `tree` has not seen; null where there is none.
  const Event* next(const Tree& tree, const std::string& from) const {
    const auto found = children_.find(from);
    if (found == children_.end()) return nullptr;
    for (const Event* event : found->second) {
      if (!tree.contains(event->proposal->program)) return event;
    }
    return nullptr;
  }
  bool spent(const std::string& program) const { return spent_.contains(program); }

  // With this precision; null where it was not measured so.
  const Measurement* at(const std::string& program, Precision precision) const {
    for (const Known& result : of(program)) {
      if (result.precision == precision) return &result.measurement;
    }
    return nullptr;
  }
  const Measurement* first(const std::string& program) const {
    const std::vector<Known>& results = of(program);
    return results.empty() ? nullptr : &results.front().measurement;
  }

 private:
  static bool has_come_in(const Node& node) { return node.measurement || node.lost; }

  // A prediction is no result of a trial that was measured later.
  static void keep(std::vector<Known>& results, Known result) {
    if (result.measurement.state != TrialState::kPredicted) {
      std::erase_if(results, [](const Known& known) { return known.measurement.state == TrialState::kPredicted; });
    }
    results.push_back(std::move(result));
  }

  const std::vector<Known>& of(const std::string& program) const {
    static const std::vector<Known> none;
    const auto found = results_.find(program);
    return found == results_.end() ? none : found->second;
  }

  std::map<std::string, std::vector<const Event*>> children_;
  std::map<std::string, std::vector<Known>> results_;
  std::set<std::string> spent_;
  int trials_ = 0;
};

class Replay {
 public:
  Replay(const Record& record, Policy& policy)
      : record_(record), policy_(policy), answers_(record), tree_(record.tree().original()) {}

  Result<Replayed> run() {
    while (true) {
      SOLSTICE_CHECK(fill());
      if (flight_.empty()) break;
      land();
    }
    out_.events = tree_.events();
    SOLSTICE_TRY(out_.sequence, record_.sequence_of(out_.events));
    return std::move(out_);
  }

 private:
  Status fill() {
    while (tree_.in_flight() < record_.lookahead()) {
      SOLSTICE_TRY(const std::optional<Decision> decision, policy_.decide(tree_));
      if (!decision || (!decision->again && tree_.trials() >= answers_.trials())) return success();
      const size_t before = tree_.events().size();
      ++out_.decisions;
      out_.answered += (decision->again ? measure_again(*decision) : derive(*decision)) ? 1 : 0;
      if (tree_.events().size() == before) {
        return fail(Code::bad_argument,
                    fmt::format("the policy's decision for node {} changes nothing, and would be made for ever",
                                decision->node));
      }
    }
    return success();
  }

  // True: the record knew it.
  bool derive(const Decision& decision) {
    const std::string& from = tree_.node(decision.node).proposal.program;
    const Event* next = answers_.next(tree_, from);
    if (!next) {
      tree_.spend(decision.node);
      return answers_.spent(from);
    }
    Proposal proposal = *next->proposal;
    proposal.parent = decision.node;
    proposal.precision = decision.precision;
    if (next->kind == Event::Kind::kSkipped)
      tree_.skip(std::move(proposal));
    else
      flight_.push_back(tree_.add(std::move(proposal))->id);
    return true;
  }

  bool measure_again(const Decision& decision) {
    const bool known = answers_.at(tree_.node(decision.node).proposal.program, decision.precision) != nullptr;
    const size_t before = tree_.events().size();
    tree_.again(decision.node, decision.precision);
    if (tree_.events().size() > before) flight_.push_back(decision.node);
    return known;
  }

  // A repetition that is not in the record teaches nothing and takes no time; a first measurement is the record's
  // first, however precise that was.
  void land() {
    const Node& node = tree_.node(flight_.front());
    flight_.pop_front();
    const Measurement* exact = answers_.at(node.proposal.program, node.proposal.precision);
    if (exact) return tree_.complete(node.id, *exact);
    if (!node.measurement) {
      const Measurement* first = answers_.first(node.proposal.program);
      return first ? tree_.complete(node.id, *first) : tree_.lose(node.id);
    }
    Measurement same = *node.measurement;
    same.cost = Seconds(0);
    tree_.complete(node.id, std::move(same));
  }

  const Record& record_;
  Policy& policy_;
  Answers answers_;
  Tree tree_;
  std::deque<int> flight_;
  Replayed out_;
};

}  // namespace

Result<Replayed> replay(const Record& record, const std::string& policy, uint64_t seed) {
  SOLSTICE_TRY(const std::unique_ptr<Policy> mind, make_policy(policy, seed));
  return Replay(record, *mind).run();
}

}  // namespace solstice::search
