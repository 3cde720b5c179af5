// A measurement of candidate against baseline (schema solstice.timing/1). Times are seconds of one execution.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "record/fields.h"

namespace solstice {

// NVML's reading at one moment; zeros, and no throttle reasons, where it does not answer.
struct ClockReading {
  int sm_mhz = 0;
  int memory_mhz = 0;
  int celsius = 0;
  double watts = 0;
  std::optional<int64_t> throttle = {};  // nvmlClocksThrottleReasons bits
  static auto fields() {
    return std::make_tuple(field("sm_mhz", &ClockReading::sm_mhz, "SM clock"),
                           field("memory_mhz", &ClockReading::memory_mhz, "memory clock"),
                           field("celsius", &ClockReading::celsius, "temperature"),
                           field("watts", &ClockReading::watts, "power"),
                           field("throttle", &ClockReading::throttle, "NVML's throttle reasons"));
  }
};

struct TimingRound {
  std::vector<double> candidate, baseline;     // of both blocks of each, in ABBA order
  double candidate_mhz = 0, baseline_mhz = 0;  // mean SM clock right after their blocks
  int64_t throttle = 0;
  bool discarded = false;    // thermal or hardware slowdown
  bool clocks_known = true;  // all of the above was read
  static auto fields() {
    return std::make_tuple(field("candidate", &TimingRound::candidate, "seconds"),
                           field("baseline", &TimingRound::baseline, "seconds"),
                           field("candidate_mhz", &TimingRound::candidate_mhz, "mean SM clock after its blocks"),
                           field("baseline_mhz", &TimingRound::baseline_mhz, "the same of the baseline"),
                           field("throttle", &TimingRound::throttle, "reasons seen in the round"),
                           field("discarded", &TimingRound::discarded, "thermal or hardware slowdown"),
                           optional_field("clocks_known", &TimingRound::clocks_known, "clocks and reasons were read"));
  }
};

struct Timing {
  static constexpr const char* kSchema = "solstice.timing/1";
  std::string method;       // "events", "cupti", or what the callables measured
  std::string l2 = "cold";  // state before each execution
  std::vector<TimingRound> rounds;
  Seconds candidate, baseline;  // medians over the rounds that count
  double speedup = 0;           // baseline / candidate: geometric mean of the rounds' ratios of medians
  std::array<double, 2> interval95{}, interval999{};  // of the speedup, by bootstrap
  double relative_error = 0;                          // half of interval95 over the speedup
  double clock_ratio = 0;                             // candidate's mean clock over the baseline's; 0: not known
  double clock_advantage = 1;                         // share of the speedup that a higher clock can explain
  std::vector<std::string> throttle;                  // names of all reasons seen
  bool win = false;
  std::string note;  // why it is no win, what was dropped
  Seconds wall;      // that measuring took
  static auto fields() {
    return std::make_tuple(
        field("method", &Timing::method, "how times were taken"),
        field("l2", &Timing::l2, "cache before each execution"),
        field("rounds", &Timing::rounds, "samples in ABBA order"),
        field("candidate", &Timing::candidate, "median seconds"),
        field("baseline", &Timing::baseline, "median seconds"),
        field("speedup", &Timing::speedup, "baseline / candidate"),
        field("interval95", &Timing::interval95, "of the speedup"),
        field("interval999", &Timing::interval999, "of the speedup"),
        field("relative_error", &Timing::relative_error, "half the 95 % interval over the speedup"),
        field("clock_ratio", &Timing::clock_ratio, "candidate's SM clock over the baseline's"),
        optional_field("clock_advantage", &Timing::clock_advantage,
                       "what of the speedup a higher clock can have given"),
        field("throttle", &Timing::throttle, "reasons seen"),
        field("win", &Timing::win,
              "99.9 % interval above 1, effect at least 0.5 %, both after what a higher clock can give"),
        optional_field("note", &Timing::note, "what to know about it"),
        optional_field("wall", &Timing::wall, "seconds that measuring took"));
  }
};

}  // namespace solstice
