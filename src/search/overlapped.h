// An evaluator over one device whose trials end with work that needs no device, as a diagnosis: while one is waited
// for, the device has the next. Results land in the order in which trials were started, so what follows from them does
// not depend on how long that work takes.
#pragma once

#include <deque>

#include "base/stop.h"
#include "search/search.h"

namespace solstice::search {

class Overlapped : public Evaluator {
 public:
  // Once `over` says so, no trial is measured ahead of its turn: its result would not be wanted.
  explicit Overlapped(StopTest over = {}) : over_(std::move(over)) {}
  void start(const Node& node) final;
  // An error of a trial that was measured ahead waits for its turn.
  Result<Landed> land() final;

 protected:
  virtual void begin(const Node& node) = 0;
  virtual bool ready(int node) = 0;  // measure() would not have to wait
  virtual Result<Measurement> measure(int node) = 0;
  // What is left needs no device and goes on by itself: it is done; waits for that, at most so long.
  virtual bool concluded(int node, Seconds patience) = 0;
  // Waits for it, beyond what was `waited` already, and adds it to the result. The trial is over.
  virtual void conclude(int node, Seconds waited, Measurement& out) = 0;

 private:
  bool measure_next();
  Seconds measure_until_concluded(int node);

  StopTest over_;
  std::deque<int> started_;
  std::deque<Result<Measurement>> measured_;  // of the first of these
};

}  // namespace solstice::search
