// Briefing of a language model on a problem, the same at every attempt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "machine/machine.h"

namespace solstice::agents {

// Kinds of program that it may write: programs scheduled by the families, device code of its own, or both.
enum class Writes { kUcut, kCuda, kBoth };
std::vector<const char*> enum_names(Writes);

// Feedback on a measurement with verdict and time: nothing more; counters as they are, which exists to measure
// what they do to it (KernelPro found them worse than none); findings in words.
enum class Feedback { kNone, kRaw, kTools };
std::vector<const char*> enum_names(Feedback);

struct Briefing {
  std::string equations;     // the problem, not scheduled
  machine::Machine machine;  // that candidates are compiled for
  std::string setting;       // machine, numerics, weights, in words
  std::string grammar;       // the page of the language
  std::string families;      // and the knobs of the families that are built
  bool sol = true;           // the prompt includes the speed of light, shares of it, and the cost models' predictions
  std::string ladder;        // the speed-of-light report; "" where it is left out (--sol off)
  std::optional<Seconds> practical;  // its bound, none where the ladder is left out
  Writes writes = Writes::kUcut;
  Feedback feedback = Feedback::kTools;
  int repairs = 3;    // free ones an attempt
  int trials = 40;    // of the search
  uint64_t seed = 0;  // of what a controller chooses at random
  int tune = 0;       // of them the expert's, at most, for each program that the model writes
};

}  // namespace solstice::agents
