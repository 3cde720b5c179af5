// The order of a phase's steps over streams, as events: which to wait for before a step, which to record after it.
#pragma once

#include <cstddef>
#include <vector>

#include "record/plan.h"

namespace solstice::rt {

struct ScheduledStep {
  size_t step = 0;  // index into plan.steps
  int stream = 0;
  std::vector<int> waits;  // events, on this step's stream, before it
  int record = -1;         // event, after it; -1: none
};

struct Schedule {
  std::vector<ScheduledStep> steps;
  int begin_event = -1;   // recorded on stream 0 before the first step; -1: one stream only
  std::vector<int> join;  // events that stream 0 waits for at the end
  int events = 0;
};

// A stream other than 0 first waits for the begin event; steps wait for the `after` steps of other streams; stream 0
// waits for every other stream's last step at the end. Steps of another phase in `after` are over by then.
Schedule make_schedule(const Plan& plan, Phase phase);

}  // namespace solstice::rt
