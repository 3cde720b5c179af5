#include "search/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace solstice::search {

Tree::Tree(Seconds original) : nodes_(1) {
  Measurement problem;
  problem.state = TrialState::kVerified;
  problem.time = original;
  if (original.value > 0) complete(0, std::move(problem));
}

const Node* Tree::add(Proposal proposal) {
  const int id = static_cast<int>(nodes_.size());
  if (!seen_.insert(proposal.program).second) return nullptr;
  events_.push_back({.kind = Event::Kind::kProposed, .node = id, .proposal = proposal});
  Node node;
  node.id = id;
  node.depth = at(proposal.parent).depth + 1;
  node.in_flight = true;
  at(proposal.parent).children.push_back(id);
  node.proposal = std::move(proposal);
  nodes_.push_back(std::move(node));
  ++in_flight_;
  return &nodes_.back();
}

void Tree::skip(Proposal proposal) {
  if (!seen_.insert(proposal.program).second) return;
  const int parent = proposal.parent;
  events_.push_back({.kind = Event::Kind::kSkipped, .node = parent, .proposal = std::move(proposal)});
}

void Tree::again(int id, Precision precision) {
  if (at(id).in_flight) return;
  events_.push_back({.kind = Event::Kind::kAgain, .node = id, .precision = precision});
  at(id).in_flight = true;
  at(id).proposal.precision = precision;
  ++in_flight_;
}

void Tree::land(Node& node) {
  if (node.in_flight) --in_flight_;
  node.in_flight = false;
}

void Tree::complete(int id, Measurement measurement) {
  Node& node = at(id);
  const bool original = id == 0 && !node.measurement;
  const bool predicted = id > 0 && node.measurement && node.measurement->state == TrialState::kPredicted;
  const bool better = predicted && measurement.state != TrialState::kPredicted;
  if (!node.in_flight && !node.lost && !original && !better) return;  // it has come in already
  if (original) original_ = measurement.time;
  events_.push_back({.kind = Event::Kind::kMeasured, .node = id, .measurement = measurement});
  land(node);
  node.lost = false;
  node.precision = node.proposal.precision;
  measured_ = measured_ || (id > 0 && measurement.state == TrialState::kVerified);
  if (measurement.usable()) slowest_ = std::max(slowest_, measurement.time);
  node.measurement = std::move(measurement);
}

void Tree::lose(int id) {
  if (!at(id).in_flight) return;
  events_.push_back({.kind = Event::Kind::kLost, .node = id});
  land(at(id));
  at(id).lost = true;
}

void Tree::spend(int id, std::optional<Proposal> last) {
  if (at(id).spent) return;
  if (last && !last->program.empty()) last.reset();
  if (last) last->parent = id;
  events_.push_back({.kind = Event::Kind::kSpent, .node = id, .proposal = last});
  at(id).spent = true;
  at(id).given_up = std::move(last);
}

void Tree::open(int id) {
  if (!at(id).spent) return;
  events_.push_back({.kind = Event::Kind::kOpened, .node = id});
  at(id).spent = false;
  at(id).given_up.reset();
}

void Tree::note(int id, Proposal turn) {
  turn.parent = id;
  events_.push_back({.kind = Event::Kind::kNoted, .node = id, .proposal = std::move(turn)});
}

Status Tree::apply(const Event& event) {
  const auto wrong = [&](const char* why) {
    const char* kind = enum_name(event.kind);
    return fail(Code::bad_argument,
                fmt::format("event {} (`{}` of node {}) does not fit: {}", events_.size() + 1, kind, event.node, why));
  };
  const bool fresh = event.kind == Event::Kind::kProposed;
  if (!fresh && (event.node < 0 || event.node >= static_cast<int>(nodes_.size())))
    return wrong("there is no such node");
  switch (event.kind) {
    case Event::Kind::kProposed:
      if (!event.proposal) return wrong("it has no proposal");
      if (event.proposal->parent < 0 || event.proposal->parent >= static_cast<int>(nodes_.size()))
        return wrong("its parent is missing");
      if (!add(*event.proposal)) return wrong("its program is in the tree already");
      return success();
    case Event::Kind::kSkipped:
      if (!event.proposal) return wrong("it has no proposal");
      skip(*event.proposal);
      return success();
    case Event::Kind::kAgain:
      if (!event.precision) return wrong("it has no precision");
      again(event.node, *event.precision);
      return success();
    case Event::Kind::kMeasured:
      if (!event.measurement) return wrong("it has no measurement");
      complete(event.node, *event.measurement);
      return success();
    case Event::Kind::kLost:
      lose(event.node);
      return success();
    case Event::Kind::kSpent:
      spend(event.node, event.proposal);
      return success();
    case Event::Kind::kOpened:
      open(event.node);
      return success();
    case Event::Kind::kNoted:
      if (!event.proposal || event.proposal->role.empty()) return wrong("it has no role");
      note(event.node, *event.proposal);
      return success();
  }
  return wrong("no such kind");
}

bool Tree::comparable(const Node& node) const {
  return node.usable() && (node.id == 0 || !measured_ || node.measurement->state == TrialState::kVerified);
}

const Node* Tree::best() const {
  const Node* best = nullptr;
  for (const Node& node : nodes_) {
    if (node.id > 0 && comparable(node) && (!best || node.measurement->time < best->measurement->time)) best = &node;
  }
  return best;
}

double Tree::speedup(const Node& node) const {
  const Seconds of = original_.value > 0 ? original_ : slowest_;
  return of / node.measurement->time;
}

}  // namespace solstice::search
