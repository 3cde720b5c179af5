// A trial: one candidate program and what became of it (schema solstice.trial/1). A candidate that fails is data, not
// an error: `state` says how far it came and `message` why it went no further.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/fields.h"

namespace solstice {

enum class TrialState { kIllegal, kNotCompiled, kCrashed, kHung, kWrong, kVerified, kPredicted };
std::vector<const char*> enum_names(TrialState);

struct TrialRecord {
  static constexpr const char* kSchema = "solstice.trial/1";
  std::string run;                    // id of the run
  int number = 0;                     // 1, 2, ... in the run
  std::string origin;                 // who proposed it: "expert", "refine", a person
  std::string program;                // its text
  std::string what;                   // schedule in one line
  std::vector<std::string> settings;  // of each kernel, in the program's order
  std::string equations;              // that it computes: "" the problem's own, else "rewritten by factor_sums"
  std::string cut;                    // into kernels, by the numbers of the equations
  std::string meaning;                // its equations against the problem's: proved, tested, unknown, refuted
  TrialState state = TrialState::kIllegal;
  std::string message;
  std::optional<Seconds> predicted;  // by the cost model
  std::optional<Seconds> measured;   // median of the kernels' span
  Json verdict;                      // errors against the oracle, limits (as the judge wrote it)
  Json timing;                       // samples, interval, clocks (as the judge wrote it)
  Json table;                        // where its time goes (KernelTable), predicted
  Json findings;                     // of its diagnosis (Finding)
  Json trace;                        // time by kernel (KernelTrace), where it was taken
  Json cost;                         // terms of the cost model
  Seconds compile_time;
  Seconds measuring;       // verification, timing and tracing: what kept the GPU's side busy
  std::optional<int> gpu;  // that measured it, where a search has several
  std::string started;     // UTC
  static auto fields() {
    return std::make_tuple(
        field("run", &TrialRecord::run, "id of the run"), field("number", &TrialRecord::number, "1, 2, ... in the run"),
        optional_field("origin", &TrialRecord::origin, "who proposed it"),
        field("program", &TrialRecord::program, "its text"),
        optional_field("what", &TrialRecord::what, "schedule in one line"),
        optional_field("settings", &TrialRecord::settings, "of each kernel"),
        optional_field("equations", &TrialRecord::equations, "empty: the problem's own"),
        optional_field("cut", &TrialRecord::cut, "into kernels, by the numbers of the equations"),
        optional_field("meaning", &TrialRecord::meaning, "verdict on its equations"),
        field("state", &TrialRecord::state, "how far it came"),
        optional_field("message", &TrialRecord::message, "why it went no further"),
        optional_field("predicted", &TrialRecord::predicted, "seconds by the cost model"),
        optional_field("measured", &TrialRecord::measured, "median seconds of the kernels' span"),
        optional_field("verdict", &TrialRecord::verdict, "errors against the oracle"),
        optional_field("timing", &TrialRecord::timing, "samples, interval, clocks"),
        optional_field("table", &TrialRecord::table, "where its time goes, predicted"),
        optional_field("findings", &TrialRecord::findings, "of its diagnosis"),
        optional_field("trace", &TrialRecord::trace, "time by kernel, beside the cost model's"),
        optional_field("cost", &TrialRecord::cost, "terms of the cost model"),
        optional_field("compile_time", &TrialRecord::compile_time, "seconds"),
        optional_field("measuring", &TrialRecord::measuring, "seconds of verification, timing and tracing"),
        optional_field("gpu", &TrialRecord::gpu, "that measured it, of several"),
        optional_field("started", &TrialRecord::started, "UTC"));
  }
};

}  // namespace solstice
