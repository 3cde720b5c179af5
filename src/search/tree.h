// The tree of attempts. It knows no GPU and no language: a candidate is opaque text, a measurement is data.
// Nodes are only ever added and completed once; ids are dense and in order of proposal, so that a recorded run
// replays to the same tree.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/units.h"
#include "record/fields.h"
#include "record/trial.h"

namespace solstice::search {

struct Proposal {
  std::string program;                     // the candidate's text
  std::string reason;                      // what the proposer wants to find out, for people
  Seconds predicted;                       // by the cost model; 0 where it has none
  int parent = -1;                         // node that it was derived from, -1: the problem
  std::vector<std::string> settings = {};  // of each kernel, so that a later run finds the candidate again
  std::string equations = {};              // which it computes: "" the problem's own, else "rewritten by factor_sums"
  std::optional<Seconds> known = {};       // what an earlier run on this machine measured: for ordering only
};

// What a trial found. `time` is set for verified candidates, and for predicted ones where there is no device.
struct Measurement {
  TrialState state = TrialState::kIllegal;
  Seconds time;
  Seconds cost;        // wall time the trial took
  std::string detail;  // one line for people: why it failed, how far off it was
  Json record;         // verdict, timing, resources: what the store keeps

  static auto fields() {
    return std::make_tuple(field("state", &Measurement::state, "how far it came"),
                           optional_field("time", &Measurement::time, "seconds a call"),
                           optional_field("cost", &Measurement::cost, "seconds the trial took"),
                           optional_field("detail", &Measurement::detail, "why, in one line"),
                           optional_field("record", &Measurement::record, "verdict, timing, resources"));
  }
};

struct Node {
  int id = 0;
  Proposal proposal;
  std::optional<Measurement> measurement;  // absent while in flight

  bool usable() const {
    return measurement && (measurement->state == TrialState::kVerified || measurement->state == TrialState::kPredicted);
  }
};

class Tree {
 public:
  // Null when this very text is in the tree already.
  const Node* add(Proposal proposal);
  void complete(int id, Measurement measurement);
  bool contains(const std::string& program) const { return seen_.contains(program); }
  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(int id) const { return nodes_[static_cast<size_t>(id)]; }
  const Node* best() const;  // fastest usable node, null if there is none

 private:
  std::vector<Node> nodes_;
  std::set<std::string> seen_;
};

}  // namespace solstice::search
