// The counters that a launch is asked for: what they are called, their unit, which question needs them. Names are ncu's
// of compute capability 9.0, as `ncu --query-metrics --chips gh100` lists them; on a GPU or under a version that lacks
// one, that one alone is missing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/diagnosis/facts.h"

namespace solstice::diagnose {

struct Counter {
  std::string_view name;      // "DRAM bytes read"
  std::string_view metric;    // ncu's: "dram__bytes_read.sum"
  std::string_view unit;      // of the value in CounterFacts: "byte", "share", "s", "cycle", "inst", "sector/request"
  std::string_view question;  // of a tool, that needs it: "DRAM saturated"
  // ncu rewrites the kernel to count it: passes of their own, each many times as long. Asked for by name alone.
  bool rewrites = false;
};

// In the order in which a list of them is read: time, units, memory from DRAM to registers, pipes, issue, stalls.
const std::vector<Counter>& counter_table();

// nullptr where the table does not have the metric.
const Counter* find_counter(std::string_view metric);

// The metrics of all counters, or of those that these questions need; without what rewrites the kernel.
std::vector<std::string> counter_metrics(const std::vector<std::string>& questions = {});

// Nothing where it was not read.
std::optional<double> counter_value(const CounterFacts& facts, std::string_view metric);

}  // namespace solstice::diagnose
