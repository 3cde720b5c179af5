#include "search/replay/recorded.h"

#include <algorithm>
#include <deque>

namespace solstice::search {
namespace {

double tokens_of(const Event& event) { return event.proposal ? static_cast<double>(event.proposal->tokens) : 0; }

Spent cost_of(const Event& event) {
  Spent out{.trials = 1};
  if (event.measurement) out.seconds = event.measurement->cost.value;
  return out;
}

}  // namespace

Result<Record> Record::read(RecordedRun run) {
  Record out(std::move(run));
  std::deque<int> started;
  for (const Event& event : out.run_.events) {
    SOLSTICE_CHECK(out.tree_.apply(event).context("reading the search of run " + out.run_.id));
    out.lookahead_ = std::max(out.lookahead_, out.tree_.in_flight());
    if (event.kind == Event::Kind::kProposed || event.kind == Event::Kind::kAgain) started.push_back(event.node);
    if (event.kind == Event::Kind::kOpened) out.in_order_ = false;
    if (!is_result(event)) continue;
    if (started.empty() || started.front() != event.node) out.in_order_ = false;
    std::erase(started, event.node);
  }
  for (const Node& node : out.tree_.nodes()) {
    if (node.id > 0) out.nodes_[node.proposal.program] = node.id;
    if (node.id > 0 && node.usable()) out.slowest_ = std::max(out.slowest_, node.measurement->time);
  }
  out.original_ = out.tree_.original().value > 0 ? out.tree_.original() : out.run_.original;
  SOLSTICE_TRY(out.sequence_, out.sequence_of(out.run_.events));
  return out;
}

const Node* Record::find(const std::string& program) const {
  const auto found = nodes_.find(program);
  return found == nodes_.end() ? nullptr : &tree_.node(found->second);
}

double Record::speedup(const Node* candidate) const {
  const Node* known = candidate ? find(candidate->proposal.program) : nullptr;
  if (!known || !tree_.comparable(*known)) return 1;
  const Seconds over = original_.value > 0 ? original_ : slowest_;
  return std::max(1.0, over / known->measurement->time);
}

// A prediction is of no account where anything was measured.
bool Record::counts(const Measurement& measurement) const {
  return measurement.state != TrialState::kPredicted || !tree_.measured();
}

Result<Sequence> Record::sequence_of(const std::vector<Event>& events) const {
  Sequence out{.original = original_, .bound = run_.bound, .points = {Point{}}};
  Tree tree;
  std::vector<double> tokens = {0};  // of each node, until its first result
  double aside = 0;                  // of proposals that were not tried, and of answers that there is none
  for (const Event& event : events) {
    SOLSTICE_CHECK(tree.apply(event));
    if (event.kind == Event::Kind::kProposed) tokens.push_back(tokens_of(event));
    if (event.kind == Event::Kind::kSkipped || event.kind == Event::Kind::kSpent) aside += tokens_of(event);
    if (!is_result(event)) continue;
    double& own = tokens[static_cast<size_t>(event.node)];
    Point point{.spent = out.last().spent};
    point.spent += cost_of(event);
    point.spent.tokens += own + aside;
    own = aside = 0;
    const Node* best = tree.best();
    if (best && !counts(*best->measurement)) best = nullptr;
    if (best) point.best = timed(*best);
    point.speedup = speedup(best);
    out.points.push_back(point);
    if (event.measurement && !counts(*event.measurement)) out.measured_since = out.trials();
  }
  return out;
}

}  // namespace solstice::search
