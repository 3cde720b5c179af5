// The tree of attempts. It knows no GPU and no language: a candidate is opaque text, a measurement is data.
//
// Node 0 is the problem, measured as the original; node N is trial N, in the order of proposal. Nothing is ever removed or
// changed: what happens is a list of events, and a tree is what its events say. Replaying them gives the same tree, whatever the
// order in which results came in, and goes on from there.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/units.h"
#include "record/fields.h"
#include "record/trial.h"

namespace solstice::search {

// How much work a measurement is worth. Rough ones choose, precise ones decide.
enum class Precision { kRough, kUsual, kPrecise };
std::vector<const char*> enum_names(Precision);

struct Proposal {
  std::string program = {};                // the candidate's text
  std::string reason = {};                 // the move: what the proposer wants to find out, for people
  Seconds predicted = {};                  // by the cost model; 0 where it has none
  int parent = 0;                          // node that it was derived from
  std::vector<std::string> settings = {};  // of each kernel, so that a later run finds the candidate again
  std::string equations = {};              // which it computes: "" the problem's own, else "rewritten by factor_sums"
  std::optional<Seconds> known = {};       // what an earlier run on this machine measured: for ordering only
  std::string origin = {};                 // who made it: "expert", a model's name, "person"
  int64_t tokens = 0;                      // that it took to make
  Precision precision = Precision::kUsual;

  static auto fields() {
    return std::make_tuple(
        field("program", &Proposal::program, "the candidate's text"), field("reason", &Proposal::reason, "the move, for people"),
        optional_field("predicted", &Proposal::predicted, "seconds, by the cost model"), field("parent", &Proposal::parent, "node"),
        optional_field("settings", &Proposal::settings, "of each kernel"),
        optional_field("equations", &Proposal::equations, "empty: the problem's own"),
        optional_field("known", &Proposal::known, "seconds that an earlier run measured"),
        optional_field("origin", &Proposal::origin, "who made it"), optional_field("tokens", &Proposal::tokens, "that it took to make"),
        optional_field("precision", &Proposal::precision, "of its first measurement"));
  }
};

// What a trial found. `time` is set for verified candidates, and for predicted ones where there is no device.
struct Measurement {
  TrialState state = TrialState::kIllegal;
  Seconds time;
  Seconds cost;         // wall time the trial took
  double joules = 0;    // energy the trial took, where it was read
  double noise = 0;     // relative standard error of `time`; 0 where it is not known
  std::string detail;   // one line for people: why it failed, how far off it was
  std::string finding;  // what was learnt of it, for whoever proposes next
  Json record;          // verdict, timing, resources: what the store keeps

  bool usable() const { return state == TrialState::kVerified || state == TrialState::kPredicted; }

  static auto fields() {
    return std::make_tuple(field("state", &Measurement::state, "how far it came"),
                           optional_field("time", &Measurement::time, "seconds a call"),
                           optional_field("cost", &Measurement::cost, "seconds the trial took"),
                           optional_field("joules", &Measurement::joules, "energy the trial took"),
                           optional_field("noise", &Measurement::noise, "relative standard error of the time"),
                           optional_field("detail", &Measurement::detail, "why, in one line"),
                           optional_field("finding", &Measurement::finding, "what was learnt"),
                           optional_field("record", &Measurement::record, "verdict, timing, resources"));
  }
};

struct Node {
  int id = 0;
  int depth = 0;
  Proposal proposal;
  std::vector<int> children;
  std::optional<Measurement> measurement;   // the latest; absent until the first has come in
  Precision precision = Precision::kRough;  // of that one
  bool in_flight = false;                   // a measurement is under way
  bool lost = false;                        // its result does not come, or has not yet
  bool spent = false;                       // whoever proposes has no further move from here

  bool usable() const { return measurement && measurement->usable(); }
  bool failed() const { return measurement && !measurement->usable(); }
  // Whether something can be derived from it.
  bool open() const { return !spent && (id == 0 || measurement.has_value()); }
};

// What happened, in order.
struct Event {
  enum class Kind { kProposed, kSkipped, kAgain, kMeasured, kLost, kSpent };
  Kind kind = Kind::kProposed;
  int node = 0;
  std::optional<Proposal> proposal = {};        // kProposed, kSkipped
  std::optional<Measurement> measurement = {};  // kMeasured
  std::optional<Precision> precision = {};      // kAgain

  static auto fields() {
    return std::make_tuple(field("kind", &Event::kind, "proposed, skipped, again, measured, lost, spent"),
                           field("node", &Event::node, "which"),
                           optional_field("proposal", &Event::proposal, "of a new node, or of what is not tried"),
                           optional_field("measurement", &Event::measurement, "that came in"),
                           optional_field("precision", &Event::precision, "asked for again"));
  }
};
std::vector<const char*> enum_names(Event::Kind);

class Tree {
 public:
  // `original`: the time of what is to be replaced; 0 where it is not known.
  explicit Tree(Seconds original = Seconds(0));

  // Null when this very text is in the tree already. In flight until a result comes.
  const Node* add(Proposal proposal);
  void skip(Proposal proposal);                      // not tried: nobody proposes it again
  void again(int node, Precision precision);         // in flight once more
  void complete(int node, Measurement measurement);  // also where it was given up before
  void lose(int node);                               // in flight no longer
  void spend(int node);
  // Errors: bad_argument where the event does not fit what happened before it.
  Status apply(const Event& event);

  bool contains(const std::string& program) const { return seen_.contains(program); }
  const std::vector<Node>& nodes() const { return nodes_; }  // the problem first
  const Node& node(int id) const { return nodes_[static_cast<size_t>(id)]; }
  const std::vector<Event>& events() const { return events_; }
  int trials() const { return static_cast<int>(nodes_.size()) - 1; }
  int in_flight() const { return in_flight_; }
  Seconds original() const { return original_; }
  const Node* best() const;  // fastest usable trial, null if there is none
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
};

}  // namespace solstice::search
