// Results of a bench (schema solstice.bench/2): one row a problem, rewritten whole after each, so that a stopped
// bench goes on where it was. A row holds the opponents, which are measured once, and one variant for each numerics
// policy (with rewrites and without, where both were asked for). All times are seconds.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/fields.h"
#include "record/report.h"
#include "record/run.h"

namespace solstice {

// One side of the contest: an opponent, or a variant's result. Timed in one process, in blocks in turn.
struct BenchSide {
  std::string name;  // "PyTorch eager", "torch.compile, TF32 allowed"
  std::optional<Measured> time;
  std::optional<double> error;  // normwise against float64 on the example inputs, worst of its outputs
  std::optional<Bytes> peak;    // device memory of a call above what lay there before the first one
  std::string note;             // why it has no time
  static auto fields() {
    return std::make_tuple(field("name", &BenchSide::name, "who"),
                           optional_field("time", &BenchSide::time, "measured in the contest"),
                           optional_field("error", &BenchSide::error, "normwise, against float64"),
                           optional_field("peak", &BenchSide::peak, "bytes of one call"),
                           optional_field("note", &BenchSide::note, "what it is, or why it has no time"));
  }
};

// Flaws measured in the problem itself (docs/measuring.md, "Flawed by measurement").
struct BenchFlaws {
  bool measured = false;
  std::string note;              // why not
  bool constant_output = false;  // the result for other inputs, or zeros, passes KernelBench's check
  std::string constant;          // which: "the result for seed 43", "zeros"
  std::optional<double> change;  // of the result from one seed of inputs to others, in the check's limits
  std::vector<std::string>
      unseen;  // inputs and weights whose removal passes the check, though other values of theirs matter
  std::vector<std::string> dead;  // whose values never matter: dropping them is right, no flaw
  bool original_off = false;      // the original itself fails the check against float64
  std::optional<double> off;      // its error, in the check's limits; none: float64 did not fit
  bool flawed() const { return constant_output || original_off || !unseen.empty(); }
  static auto fields() {
    return std::make_tuple(
        field("measured", &BenchFlaws::measured, "all of this was"),
        optional_field("note", &BenchFlaws::note, "why not, or what was left out"),
        optional_field("constant_output", &BenchFlaws::constant_output, "a constant passes KernelBench's check"),
        optional_field("constant", &BenchFlaws::constant, "which one"),
        optional_field("change", &BenchFlaws::change, "of the result from seed to seed, in the check's limits"),
        optional_field("unseen", &BenchFlaws::unseen,
                       "tensors whose removal passes the check, though their values matter"),
        optional_field("dead", &BenchFlaws::dead, "tensors whose values never matter"),
        optional_field("original_off", &BenchFlaws::original_off, "the original fails the check against float64"),
        optional_field("off", &BenchFlaws::off, "its distance in the check's limits"));
  }
};

struct BenchKernel {
  std::string name, family;
  static auto fields() {
    return std::make_tuple(field("name", &BenchKernel::name, "in the program"),
                           field("family", &BenchKernel::family, "what runs it"));
  }
};

// A problem's part of a budget that it shared with the others (docs/search.md).
struct BenchTurns {
  int trials = 0;      // of its search
  Seconds spent;       // their own time
  double speedup = 0;  // of the best, by the times of the search; 0: the original's time is not known
  std::optional<double>
      fixed;         // the same where the fixed split would have ended it; none: it had fewer trials than that
  std::string stop;  // "shared": the budget went elsewhere or was used up; else why it ended by itself
  static auto fields() {
    return std::make_tuple(field("trials", &BenchTurns::trials, "of its search"),
                           field("spent", &BenchTurns::spent, "seconds, of these trials"),
                           known_field("speedup", &BenchTurns::speedup, "of the best, by the search"),
                           optional_field("fixed", &BenchTurns::fixed, "the same after the fixed split's share"),
                           field("stop", &BenchTurns::stop, "why it had no more"));
  }
};

// How much is ours of a module that PyTorch runs a part of (docs/partial.md).
struct BenchParts {
  int ours = 0, all = 0;  // stages of ours; with PyTorch's calls
  double share = 0;       // of the drop-in's time
  int trials = 0;         // of the searches of its stages
  Seconds searched = {};  // their time
  static auto fields() {
    return std::make_tuple(field("ours", &BenchParts::ours, "stages that run in our kernels"),
                           field("all", &BenchParts::all, "stages and PyTorch's calls"),
                           known_field("share", &BenchParts::share, "of the drop-in's time, null: not known"),
                           optional_field("trials", &BenchParts::trials, "of the searches of its stages"),
                           optional_field("searched", &BenchParts::searched, "their seconds"));
  }
};

// Ours under one policy.
struct BenchVariant {
  std::string numerics = "reference";
  std::string rewrites;   // "on", "off"; "": from before there was a choice
  std::string rewritten;  // by which rewrites other equations were made and searched; "": by none
  RunOutcome outcome = RunOutcome::kNone;
  std::string reason;   // operator where unsupported; the error where it failed
  bool failed = false;  // it ended with an error
  bool predicted = false;
  double speedup = 0;  // the headline: ModelNew.forward against Model.forward, 0: not measured
  double speedup_low = 0, speedup_high = 0;
  Seconds original, replacement;
  BenchSide beside;                   // the drop-in in the contest
  std::string verdict;                // of the full verification: "passed 18 cases, each twice", or why not
  std::string check;                  // why KernelBench's check fails though the drop-in is right, "": it passes
  double worst = 0, worst_eager = 0;  // normwise errors over all its cases: ours, and PyTorch's; 0: none
  Seconds io, work, practical;        // bounds, 0: unknown
  std::vector<BenchKernel> kernels;   // of the partition; empty where there is none
  std::optional<BenchParts> parts;    // of a module that was cut
  int launches = 0;                   // of one execution of the winner
  std::string run;                    // id in the store
  std::string folder;                 // folder of report.md and model_new.py
  Seconds took;
  Seconds trial;         // median of its trials: check, compile, equivalence, first verification, timing; 0: none
  Seconds verification;  // of all seeds and value families, of one candidate; 0: none came so far
  std::optional<BenchTurns> turns;  // if the bench had one budget for all

  // Everything runs on kernels that were generated; else some stages are PyTorch's.
  bool complete() const;
  // Was made to run at all: neither unsupported nor failed.
  bool ran() const { return !failed && outcome != RunOutcome::kUnsupported && outcome != RunOutcome::kNone; }
  static auto fields() {
    return std::make_tuple(
        field("numerics", &BenchVariant::numerics, "policy"),
        optional_field("rewrites", &BenchVariant::rewrites, "on or off"),
        optional_field("rewritten", &BenchVariant::rewritten, "by which rewrites"),
        field("outcome", &BenchVariant::outcome, "what it came to"),
        optional_field("reason", &BenchVariant::reason, "operator or error"),
        optional_field("failed", &BenchVariant::failed, "it ended with an error"),
        optional_field("predicted", &BenchVariant::predicted, "times are a model's"),
        known_field("speedup", &BenchVariant::speedup, "forward against forward, null: not measured"),
        known_field("speedup_low", &BenchVariant::speedup_low, "99.9 % interval"),
        known_field("speedup_high", &BenchVariant::speedup_high, "99.9 % interval"),
        known_field("original", &BenchVariant::original, "seconds"),
        known_field("replacement", &BenchVariant::replacement, "seconds"),
        optional_field("beside", &BenchVariant::beside, "the drop-in in the contest with the opponents"),
        optional_field("verdict", &BenchVariant::verdict, "of the full verification"),
        optional_field("check", &BenchVariant::check, "why KernelBench's check fails for the original's error"),
        known_field("worst", &BenchVariant::worst, "normwise error, all cases"),
        known_field("worst_eager", &BenchVariant::worst_eager, "the same of PyTorch eager"),
        known_field("io", &BenchVariant::io, "bound"), known_field("work", &BenchVariant::work, "bound"),
        known_field("practical", &BenchVariant::practical, "bound"),
        optional_field("kernels", &BenchVariant::kernels, "and families"),
        optional_field("parts", &BenchVariant::parts, "how much is ours, where PyTorch runs a part"),
        known_field("launches", &BenchVariant::launches, "of the winner"),
        optional_field("run", &BenchVariant::run, "id in the store"),
        optional_field("folder", &BenchVariant::folder, "of its outcome"),
        optional_field("took", &BenchVariant::took, "seconds"),
        known_field("trial", &BenchVariant::trial, "median seconds of a trial"),
        known_field("verification", &BenchVariant::verification, "seconds of the full verification of a candidate"),
        optional_field("turns", &BenchVariant::turns, "of a shared budget"));
  }
};

struct BenchRow {
  std::string id;      // "1/2": level and number
  std::string name;    // file name without its number
  std::string source;  // SHA-256 of the file
  std::vector<BenchVariant> variants;
  std::vector<BenchSide> opponents;  // eager first
  std::string opponents_note;        // why there are none
  BenchFlaws flaws;
  Seconds took;
  std::string finished;                          // UTC: the newest row of a problem wins a merge
  std::map<std::string, std::string> made_with;  // solstice, build, device, driver, torch, as far as the run came
  bool failed() const;                           // some variant did
  static auto fields() {
    return std::make_tuple(field("id", &BenchRow::id, "level and number"), field("name", &BenchRow::name, "file name"),
                           optional_field("source", &BenchRow::source, "SHA-256 of the file"),
                           field("variants", &BenchRow::variants, "ours, by policy"),
                           optional_field("opponents", &BenchRow::opponents, "eager first"),
                           optional_field("opponents_note", &BenchRow::opponents_note, "why there are none"),
                           optional_field("flaws", &BenchRow::flaws, "of the problem"),
                           optional_field("took", &BenchRow::took, "seconds"),
                           optional_field("finished", &BenchRow::finished, "UTC"),
                           optional_field("made_with", &BenchRow::made_with, "solstice, build, device, driver, torch"));
  }
};

struct Bench {
  static constexpr const char* kSchema = "solstice.bench/2";
  std::map<std::string, std::string> options;  // all that changes a row; a bench is resumed only under the same
  std::string version;
  std::string started;
  std::vector<BenchRow> rows;
  std::map<std::string, std::string>
      open;  // searches that share a budget and have no row yet: the problem, its run in the store
  std::map<std::string, std::string> ended;  // those of them that ended by themselves, and why
  std::map<std::string, BenchTurns> apart;   // those that found no room with the others, and what they had until then
  static auto fields() {
    return std::make_tuple(
        field("options", &Bench::options, "that change a row"), field("version", &Bench::version, "of solstice"),
        field("started", &Bench::started, "UTC"), field("rows", &Bench::rows, "one a problem"),
        optional_field("open", &Bench::open, "problems without a row yet, and their runs"),
        optional_field("ended", &Bench::ended, "searches of these that ended by themselves, and why"),
        optional_field("apart", &Bench::apart, "searches that found no room beside the others, and what they had"));
  }
};

// Reads this schema or an earlier one. Errors: those of parse_json and from_json.
Result<Bench> read_bench(const Json& json);

}  // namespace solstice
