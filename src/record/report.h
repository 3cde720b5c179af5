// The report of a run (schema solstice.report/1): what report.json holds and report.md shows. All times are seconds.
// Predicted and measured values never share a field: a row with `predicted` came from a model.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/diagnosis/finding.h"
#include "record/fields.h"
#include "record/kernel_table.h"
#include "record/kernel_trace.h"
#include "record/original.h"
#include "record/run.h"
#include "record/timing.h"
#include "record/trial_counts.h"

namespace solstice {

// A median with its interval. `clock_hz` is the SM clock seen while it was taken, 0 where it was not read.
struct Measured {
  Seconds median;
  Seconds low;
  Seconds high;
  int samples = 0;
  Hertz clock;
  static auto fields() {
    return std::make_tuple(
        field("median", &Measured::median, "seconds"), known_field("low", &Measured::low, "interval"),
        known_field("high", &Measured::high, "interval"), optional_field("samples", &Measured::samples, "repetitions"),
        known_field("clock_hz", &Measured::clock, "SM clock while measuring"));
  }
};

// One addend of a bound and the equation that causes it.
struct BoundTerm {
  std::string name;  // "dram", "tensor fp16", "simt", "launch"
  Seconds time;
  std::string cause;  // equation or tensor
  static auto fields() {
    return std::make_tuple(field("name", &BoundTerm::name, "unit or resource"),
                           field("time", &BoundTerm::time, "seconds"),
                           optional_field("cause", &BoundTerm::cause, "equation or tensor behind it"));
  }
};

struct Bound {
  std::string name;     // "io", "work", "practical"
  std::string meaning;  // a bound no program can beat, or one that good ones reach
  Seconds time;
  std::vector<BoundTerm> terms;
  static auto fields() {
    return std::make_tuple(field("name", &Bound::name, "io, work or practical"),
                           optional_field("meaning", &Bound::meaning, "what it bounds"),
                           field("time", &Bound::time, "seconds"), field("terms", &Bound::terms, "what it is made of"));
  }
};

// Error of one result against the float64 oracle, worst over seeds and input families.
struct ErrorRow {
  std::string output;
  std::string who;  // "PyTorch eager", "winner"
  double normwise = 0;
  double elementwise = 0;
  double normwise_limit = 0;  // 0: none applies (PyTorch's own row)
  double elementwise_limit = 0;
  std::string worst, worst_elementwise;  // input family and seed of the worst case, normwise and elementwise
  static auto fields() {
    return std::make_tuple(
        field("output", &ErrorRow::output, "tensor"), field("who", &ErrorRow::who, "whose result"),
        field("normwise", &ErrorRow::normwise, "||x - o|| / ||o||"),
        field("elementwise", &ErrorRow::elementwise, "max |x - o| / scale"),
        known_field("normwise_limit", &ErrorRow::normwise_limit, "null: none"),
        known_field("elementwise_limit", &ErrorRow::elementwise_limit, "null: none"),
        optional_field("worst", &ErrorRow::worst, "input family and seed of the worst case, normwise"),
        optional_field("worst_elementwise", &ErrorRow::worst_elementwise, "the same, elementwise"));
  }
};

// An opponent: PyTorch eager, eager with TF32 allowed, torch.compile.
struct Baseline {
  std::string name;
  std::optional<Measured> time;
  double speedup = 0;           // over eager in the same measurement, 0: none
  std::optional<double> error;  // normwise against the float64 oracle, worst of its outputs
  std::string note;             // description, or the reason why it was not measured
  static auto fields() {
    return std::make_tuple(field("name", &Baseline::name, "opponent"),
                           optional_field("time", &Baseline::time, "measured"),
                           known_field("speedup", &Baseline::speedup, "over eager, null: none"),
                           optional_field("error", &Baseline::error, "normwise, against the float64 oracle"),
                           optional_field("note", &Baseline::note, "what it is, or why not measured"));
  }
};

struct CandidateRow {
  int trial = 0;
  std::string what;
  std::string state;
  std::optional<Seconds> predicted;
  std::optional<Measured> time;
  std::string meaning;  // against the problem's equations: proved, tested, unknown, refuted
  std::string note;
  Seconds took = {};                  // to check, compile, verify and time it
  std::optional<Timing> timing = {};  // of a finalist: every sample, in ABBA rounds with the original
  static auto fields() {
    return std::make_tuple(
        field("trial", &CandidateRow::trial, "number in the run"),
        field("what", &CandidateRow::what, "schedule in one line"),
        field("state", &CandidateRow::state, "how far it came"),
        optional_field("predicted", &CandidateRow::predicted, "seconds by the cost model"),
        optional_field("time", &CandidateRow::time, "kernels' span"),
        optional_field("meaning", &CandidateRow::meaning, "verdict on its equations"),
        optional_field("note", &CandidateRow::note, "why it went no further"),
        known_field("took", &CandidateRow::took, "seconds to check, compile, verify and time it"),
        optional_field("timing", &CandidateRow::timing, "of a finalist: every sample, beside the original's"));
  }
};

// ModelNew.forward against Model.forward in one Python process, and the kernels alone, as the judge timed them.
struct Headline {
  std::optional<Measured> original;
  std::optional<Measured> replacement;
  double speedup = 0;  // 0: none was measured
  double speedup_low = 0;
  double speedup_high = 0;
  std::optional<Measured> kernels;
  std::optional<Measured> span;         // first kernel's start to last activity's end, where CUPTI works
  std::vector<std::string> activities;  // kernels, memsets and copies of one execution, in order
  std::vector<TracedKernel> by_kernel;  // the same by the program's kernels, with the cost models' times
  std::string agreement;                // medians of both timers where they differ by more than 5 %, else ""
  std::string check;                    // why KernelBench's check fails though the drop-in is right, "": it passes
  static auto fields() {
    return std::make_tuple(
        optional_field("original", &Headline::original, "Model.forward"),
        optional_field("replacement", &Headline::replacement, "ModelNew.forward"),
        known_field("speedup", &Headline::speedup, "geometric mean of the rounds' ratios of medians, null: none"),
        known_field("speedup_low", &Headline::speedup_low, "interval"),
        known_field("speedup_high", &Headline::speedup_high, "interval"),
        optional_field("kernels", &Headline::kernels, "the winner's kernels alone"),
        optional_field("span", &Headline::span, "first start to last end, by CUPTI"),
        optional_field("activities", &Headline::activities, "what one execution ran"),
        optional_field("by_kernel", &Headline::by_kernel, "its time by the program's kernels"),
        optional_field("agreement", &Headline::agreement, "why the timers differ"),
        optional_field("check", &Headline::check, "why KernelBench's check fails for the original's error"));
  }
};

// A kernel of the partition.
struct KernelRow {
  std::string name, family;
  static auto fields() {
    return std::make_tuple(field("name", &KernelRow::name, "in the program"),
                           field("family", &KernelRow::family, "what runs it"));
  }
};

// A part of a module that is cut: a stage of ours, or a call that stays PyTorch's.
struct PartRow {
  std::string what;  // "stage 1: linear, gelu", "aten.topk.default"
  bool ours = false;
  std::string outcome;     // of a stage's own run, "not tried" where there was no time for one, "failed"
  int trials = 0;          // of its search
  Seconds time = {};       // in the drop-in
  Seconds original = {};   // of a stage: in PyTorch
  bool predicted = false;  // both are a model's
  double share = 0;        // of the drop-in's time
  std::string place;       // "model.py:12"
  std::string why;         // it stays PyTorch's
  static auto fields() {
    return std::make_tuple(
        field("what", &PartRow::what, "stage, or operator"), field("ours", &PartRow::ours, "runs in our kernels"),
        optional_field("outcome", &PartRow::outcome, "of a stage's own run, `not tried` or `failed`"),
        optional_field("trials", &PartRow::trials, "of its search"),
        known_field("time", &PartRow::time, "seconds in the drop-in, null: not known"),
        known_field("original", &PartRow::original, "seconds of a stage in PyTorch, null: not known"),
        optional_field("predicted", &PartRow::predicted, "times are a model's"),
        known_field("share", &PartRow::share, "of the drop-in's time, null: not known"),
        optional_field("place", &PartRow::place, "file and line"),
        optional_field("why", &PartRow::why, "it stays PyTorch's"));
  }
};

struct Report {
  static constexpr const char* kSchema = "solstice.report/1";
  std::string run;
  std::string problem;
  std::string file;        // whole path
  std::string class_name;  // as it was named, "" where it was not
  std::string original;    // of a program: the module that it is held against; "": none, or `file` is the module
  RunOutcome outcome = RunOutcome::kNone;
  std::string reason;        // one line, where the outcome is not `faster`
  bool out_of_time = false;  // the time was up before any trial came to its end
  bool predicted = false;    // no GPU was used: every time is a model's
  Headline headline;
  std::vector<Bound> bounds;
  std::string bound_by;  // the limiting resource, with the figures
  std::vector<CandidateRow> candidates;
  std::optional<TrialCounts> trials;
  int trials_skipped = 0;  // proposals not tried: no gain was predicted
  std::string rewrites;  // that made other equations, which were searched too: "factor_sums, cancel_bias"; "": none did
  std::vector<KernelRow> kernels;
  std::optional<KernelTable> time_by_kernel;            // of the best candidate
  std::vector<Finding> findings;                        // on the best candidate, the gravest first
  std::optional<PredictedOriginal> predicted_original;  // also where the original was measured
  int launches = 0;                                     // of kernels, in one execution of the winner
  std::string verdict;         // of the full verification: "passed 18 cases, each twice", or why not
  Seconds verification = {};   // time for one candidate
  std::vector<PartRow> parts;  // of a module that PyTorch runs a part of; empty: it runs none
  std::vector<ErrorRow> errors;
  std::vector<Baseline> baselines;
  std::optional<Bytes> original_peak_memory;
  std::optional<Bytes> replacement_peak_memory;
  std::string machine;
  std::string device;                         // the GPU's own name, or "model"
  std::map<std::string, std::string> clocks;  // "SM, original": "1.41 GHz", "throttle": "power cap"
  std::map<std::string, std::string> versions;
  std::map<std::string, std::string> options;  // numerics, weights, budget
  Json agent;                                  // language model that took part: who, and its account; null: none
  // Stage: what it took; "oracle: REQUEST" within them. "search: diagnosis" (record/diagnosis/diagnosis_time.h).
  std::map<std::string, Seconds> timings;
  std::vector<std::string> command;
  std::string working_folder;  // folder of the command
  std::vector<std::string> warnings;
  std::string left_out;  // where the winner has numbers in place of PyTorch's 0 * NaN, for people; "" nowhere
  std::string program;   // the winner's text
  std::string created;   // UTC
  static auto fields() {
    return std::make_tuple(
        field("run", &Report::run, "id in the store"), field("problem", &Report::problem, "name"),
        optional_field("file", &Report::file, "the user's file"),
        optional_field("class_name", &Report::class_name, "of it, where one was named"),
        optional_field("original", &Report::original, "of a program: the module that it is held against"),
        field("outcome", &Report::outcome, "what it came to"),
        optional_field("reason", &Report::reason, "where it is not faster"),
        optional_field("out_of_time", &Report::out_of_time, "the time was up before any trial came to its end"),
        optional_field("predicted", &Report::predicted, "times are a model's, not measured"),
        optional_field("headline", &Report::headline, "forward against forward"),
        optional_field("bounds", &Report::bounds, "speed of light"),
        optional_field("bound_by", &Report::bound_by, "what bounds the result"),
        optional_field("candidates", &Report::candidates, "all trials"),
        optional_field("trials", &Report::trials, "their numbers"),
        optional_field("trials_skipped", &Report::trials_skipped, "proposals without a predicted gain"),
        optional_field("rewrites", &Report::rewrites, "that made other equations, searched too"),
        optional_field("kernels", &Report::kernels, "of the partition"),
        optional_field("findings", &Report::findings, "on the best candidate"),
        optional_field("time_by_kernel", &Report::time_by_kernel, "where the best candidate's time goes"),
        optional_field("predicted_original", &Report::predicted_original, "a model's time of the original"),
        known_field("launches", &Report::launches, "of one execution of the winner"),
        optional_field("verdict", &Report::verdict, "of the full verification"),
        known_field("verification", &Report::verification, "seconds of the full verification of one candidate"),
        optional_field("parts", &Report::parts, "what is whose, of a module that PyTorch runs a part of"),
        optional_field("errors", &Report::errors, "against the float64 oracle"),
        optional_field("baselines", &Report::baselines, "opponents"),
        optional_field("original_peak_memory", &Report::original_peak_memory, "bytes"),
        optional_field("replacement_peak_memory", &Report::replacement_peak_memory, "bytes"),
        optional_field("machine", &Report::machine, "machine description"),
        optional_field("device", &Report::device, "GPU name, or model"),
        optional_field("clocks", &Report::clocks, "clocks and throttle reasons"),
        optional_field("versions", &Report::versions, "of everything that matters"),
        optional_field("options", &Report::options, "that shaped the run"),
        optional_field("agent", &Report::agent, "language model that took part"),
        optional_field("timings", &Report::timings, "seconds of each stage of the run"),
        optional_field("command", &Report::command, "argv that reproduces it"),
        optional_field("working_folder", &Report::working_folder, "where the command was given"),
        optional_field("warnings", &Report::warnings, "what a reader should know"),
        optional_field("left_out", &Report::left_out, "where the winner has numbers in place of 0 * NaN"),
        optional_field("program", &Report::program, "the winner's text"),
        optional_field("created", &Report::created, "UTC"));
  }
};

}  // namespace solstice
