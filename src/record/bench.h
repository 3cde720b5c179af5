// What a bench came to (schema solstice.bench/1): one row a problem, rewritten whole after each, so that a stopped
// bench goes on where it was.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "record/fields.h"
#include "record/run.h"

namespace solstice {

struct BenchRow {
  std::string id;      // "1/2": level and number
  std::string name;    // file name without its number
  std::string source;  // SHA-256 of the file
  RunOutcome outcome = RunOutcome::kNone;
  std::string reason;   // operator where unsupported; the error where it failed
  bool failed = false;  // it ended with an error
  bool predicted = false;
  double speedup = 0;  // ModelNew.forward against Model.forward, 0: not measured
  Seconds original;
  Seconds replacement;
  Seconds took;                                  // the whole optimisation
  std::string run;                               // id in the store
  std::string folder;                            // where report.md and model_new.py are
  std::map<std::string, std::string> made_with;  // solstice, build, device, driver, torch, as far as the run came
  static auto fields() {
    return std::make_tuple(
        field("id", &BenchRow::id, "level and number"), field("name", &BenchRow::name, "file name"),
        field("outcome", &BenchRow::outcome, "what it came to"), optional_field("source", &BenchRow::source, "SHA-256 of the file"),
        optional_field("reason", &BenchRow::reason, "operator or error"),
        optional_field("failed", &BenchRow::failed, "it ended with an error"),
        optional_field("predicted", &BenchRow::predicted, "times are a model's"),
        optional_field("speedup", &BenchRow::speedup, "forward against forward, 0: not measured"),
        optional_field("original", &BenchRow::original, "seconds"), optional_field("replacement", &BenchRow::replacement, "seconds"),
        optional_field("took", &BenchRow::took, "seconds"), optional_field("run", &BenchRow::run, "id in the store"),
        optional_field("folder", &BenchRow::folder, "where its outcome is"),
        optional_field("made_with", &BenchRow::made_with, "solstice, build, device, driver, torch"));
  }
};

struct Bench {
  static constexpr const char* kSchema = "solstice.bench/1";
  std::map<std::string, std::string> options;  // all that changes a row; a bench is resumed only under the same
  std::string version;
  std::string started;
  std::vector<BenchRow> rows;
  static auto fields() {
    return std::make_tuple(field("options", &Bench::options, "that change a row"), field("version", &Bench::version, "of solstice"),
                           field("started", &Bench::started, "UTC"), field("rows", &Bench::rows, "one a problem"));
  }
};

}  // namespace solstice
