// The counters that a launch can be asked for: what they are called, their unit. Names are ncu's of compute capability
// 9.0, as `ncu --query-metrics --chips gh100` lists them; on a GPU or under a version that lacks one, that one alone is
// missing. All of them are asked for where they are shown as they are or kept; tools alone need fewer
// (counters_to_ask() in diagnose/tool.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/diagnosis/facts.h"

namespace solstice::diagnose {

struct Counter {
  std::string_view name;    // "DRAM bytes read"
  std::string_view metric;  // ncu's: "dram__bytes_read.sum"
  std::string_view unit;    // of the value in CounterFacts: "byte", "share", "s", "cycle", "inst", "sector/request"
};

// In the order in which a list of them is read: time, units, memory from DRAM to registers, pipes, issue, stalls.
const std::vector<Counter>& counter_table();

// nullptr where the table does not have the metric.
const Counter* find_counter(std::string_view metric);

std::vector<std::string> counter_metrics();  // of all of them

// Nothing where it was not read.
std::optional<double> counter_value(const CounterFacts& facts, std::string_view metric);

}  // namespace solstice::diagnose
