// The tree of attempts. It knows no GPU and no language: a candidate is opaque text, a measurement is data.
//
// Node 0 is the problem, measured as the original; node N is trial N, in the order of proposal. Nothing is ever removed
// or changed: what happens is a list of events, and a tree is what its events say. Replaying them gives the same tree,
// whatever the order in which results came in, and goes on from there.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "record/search_event.h"

namespace solstice::search {

// Gains below this share of the time are noise, wherever gains are counted.
inline constexpr double kNoise = 0.005;

struct Node {
  int id = 0;
  int depth = 0;
  Proposal proposal = {};
  std::vector<int> children = {};
  std::optional<Measurement> measurement = {};  // the latest; absent until the first has come in
  Precision precision = Precision::kRough;      // of that one
  bool in_flight = false;                       // a measurement is under way
  bool lost = false;                            // its result does not come, or has not yet
  bool spent = false;                           // whoever proposes has no further move from here
  std::optional<Proposal> given_up;             // and has said why: a proposal without a program

  bool usable() const { return measurement && measurement->usable(); }
  bool failed() const { return measurement && !measurement->usable(); }
  // Something can be derived from it.
  bool open() const { return !spent && !proposal.barren && (id == 0 || measurement.has_value()); }
};

// A trial in flight came back, or was given up.
inline bool is_result(const Event& event) {
  return event.node > 0 && (event.kind == Event::Kind::kMeasured || event.kind == Event::Kind::kLost);
}

class Tree {
 public:
  // `original`: the time of what is to be replaced, which is the first event; 0 where it is not known.
  explicit Tree(Seconds original = Seconds(0));

  // Null when this very text is in the tree already. In flight until a result comes.
  const Node* add(Proposal proposal);
  void skip(Proposal proposal);                      // not tried: nobody proposes it again
  void again(int node, Precision precision);         // in flight once more
  void complete(int node, Measurement measurement);  // also where it was given up before, or was only predicted
  void lose(int node);                               // in flight no longer
  // `last`: what was proposed last; one without a program, which says why there is none, is kept.
  void spend(int node, std::optional<Proposal> last = {});
  void open(int node);  // no longer spent: somebody else proposes now
  // A turn of an attempt from `node` that is not over yet (search/attempt.h): no node, and no measurement.
  void note(int node, Proposal turn);
  // Errors: bad_argument where the event does not fit what happened before it.
  Status apply(const Event& event);

  bool contains(const std::string& program) const { return seen_.contains(program); }
  const std::vector<Node>& nodes() const { return nodes_; }  // the problem first
  const Node& node(int id) const { return nodes_[static_cast<size_t>(id)]; }
  const std::vector<Event>& events() const { return events_; }
  int trials() const { return static_cast<int>(nodes_.size()) - 1; }
  int in_flight() const { return in_flight_; }
  Seconds original() const { return original_; }
  bool measured() const { return measured_; }  // a trial was, and worked
  // Its time may be compared with others': a prediction is no rival of what was measured, once a trial was.
  bool comparable(const Node& node) const;
  const Node* best() const;  // fastest comparable trial, null if there is none
  // Of a usable node: the original's time over its own; over the slowest's where the original's is not known.
  double speedup(const Node& node) const;

 private:
  Node& at(int id) { return nodes_[static_cast<size_t>(id)]; }
  void land(Node& node);

  std::vector<Node> nodes_;
  std::vector<Event> events_;
  std::unordered_set<std::string> seen_;
  Seconds original_;
  Seconds slowest_;
  int in_flight_ = 0;
  bool measured_ = false;
};

}  // namespace solstice::search
