// A search that is over, looked at again: what was known after each of its trials, and what it had cost by then.
//
// A candidate's worth is what the record knows of it in the end: one that looked fast in a rough measurement and was
// measured again is worth its last time, also where a stop before that is judged.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "search/gain.h"
#include "search/spent.h"

namespace solstice::search {

struct RecordedRun {
  std::string id = {};
  std::string problem = {};
  std::string policy = {};  // with parameters
  uint64_t seed = 1;
  std::vector<Event> events = {};
  Seconds original = {};  // where the events do not say; 0: not known
  Seconds bound = {};     // the practical one; 0: not known
};

struct Point {
  Timed best = {};  // the fastest by what was known by then; none: nothing works yet
  double speedup =
      1;        // of that candidate in the end, over the original; 1 where it is slower, which keeps the original
  Spent spent;  // so far
};

struct Sequence {
  Seconds original = {};      // 0: not known; speedups are then over the slowest trial that works
  Seconds bound = {};         // 0: not known
  std::vector<Point> points;  // before the first trial, then after each
  size_t measured_since =
      0;  // trials up to the last prediction, where others were measured: stop rules count behind it

  const Point& last() const { return points.back(); }
  size_t trials() const { return points.size() - 1; }
};

class Record {
 public:
  // Errors: bad_argument where an event does not fit those before it.
  static Result<Record> read(RecordedRun run);

  const RecordedRun& run() const { return run_; }
  const Tree& tree() const { return tree_; }
  int lookahead() const { return lookahead_; }  // most trials that were in flight at once, at least 1
  // One proposer led it all along and results came in the order in which trials were started: a replay under
  // its own policy and seed is the record then. Otherwise several GPUs measured, a language model took over, or a batch
  // came back.
  bool in_order() const { return in_order_; }
  const Sequence& sequence() const { return sequence_; }

  // Of a search over the same candidates, whose events these are.
  Result<Sequence> sequence_of(const std::vector<Event>& events) const;
  // Node of this program; null where it was never tried.
  const Node* find(const std::string& program) const;

 private:
  explicit Record(RecordedRun run) : run_(std::move(run)) {}
  double speedup(const Node* candidate) const;
  bool counts(const Measurement& measurement) const;

  RecordedRun run_;
  Tree tree_;  // as it was in the end
  std::map<std::string, int> nodes_;
  Sequence sequence_;
  Seconds original_, slowest_;
  int lookahead_ = 1;
  bool in_order_ = true;
};

}  // namespace solstice::search
