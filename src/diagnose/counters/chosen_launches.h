// Which launches of a call are worth the seconds of their counters, and whose counters hold for which.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "diagnose/counters/counter_request.h"
#include "record/diagnosis/facts.h"

namespace solstice::diagnose {

struct ChosenLaunches {
  std::vector<std::string> steps;                         // to be read, those that take most of a call first
  std::map<std::string, std::vector<std::string>> alike;  // by one of these: others that its counters hold for
  std::map<std::string, std::string> left_out;            // steps, and why
};

// Launches of one function with one grid, block, cluster, shared memory and knobs are alike: the first of them is read.
// Left out are launches of guards, which do no work on usual operands, and the shortest that take at most a twentieth
// of the call together, where times were measured.
ChosenLaunches choose_launches(const Facts& facts);

// What was read, at each step that it holds for: of a step alike it says so (`of`), of later launches of a call that
// they were read with empty caches (`cold`). The source has what was left out.
void take_counters(CounterRun run, const ChosenLaunches& chosen, Facts& facts);

}  // namespace solstice::diagnose
