// Results of a bench of searches (schema solstice.search-bench/1): real problems, each searched by several policies
// at equal budget, every search from nothing. Rewritten whole after each row. All times are seconds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "record/fields.h"

namespace solstice {

struct SearchRow {
  std::string id, name;  // of the problem
  std::string source;    // its file's SHA-256
  std::string policy;    // with parameters
  int64_t seed = 1;
  std::string failed;  // why there is no search; ""
  std::string run;     // in the bench's store
  std::string device;
  Seconds original;           // 0: not known
  Seconds bound;              // practical; 0: not known
  std::vector<Seconds> best;  // after each trial; 0: none works yet
  Seconds took;               // the search
  Seconds measuring;          // share of verification and timing on the GPU's side
  std::string stop;           // why it ended
  static auto fields() {
    return std::make_tuple(
        field("id", &SearchRow::id, "of the problem"), field("name", &SearchRow::name, "of the problem"),
        field("source", &SearchRow::source, "its file's SHA-256"), field("policy", &SearchRow::policy, "of the search"),
        field("seed", &SearchRow::seed, "of the policy"),
        optional_field("failed", &SearchRow::failed, "why there is none"),
        optional_field("run", &SearchRow::run, "in the bench's store"),
        optional_field("device", &SearchRow::device, "GPU, or model"),
        optional_field("original", &SearchRow::original, "seconds; 0: not known"),
        optional_field("bound", &SearchRow::bound, "practical, seconds; 0: not known"),
        optional_field("best", &SearchRow::best, "seconds after each trial; 0: none works"),
        optional_field("took", &SearchRow::took, "seconds of the search"),
        optional_field("measuring", &SearchRow::measuring, "seconds of it on the GPU's side of trials"),
        optional_field("stop", &SearchRow::stop, "why it ended"));
  }
};

struct SearchBench {
  static constexpr const char* kSchema = "solstice.search-bench/1";
  std::string version, started;
  std::map<std::string, std::string> options;
  std::vector<SearchRow> rows;  // by problem, then policy and seed
  static auto fields() {
    return std::make_tuple(
        field("version", &SearchBench::version, "of Solstice"), field("started", &SearchBench::started, "UTC"),
        field("options", &SearchBench::options, "that shaped it"), field("rows", &SearchBench::rows, "searches"));
  }
};

}  // namespace solstice
