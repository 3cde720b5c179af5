// Measuring on another machine: whoever proposes has a network or a person and no GPU, whoever measures has a GPU and
// no network. A batch is a folder of candidates (record/batch.h) that goes to the one and comes back from the other.
//
// Nothing is lost or counted twice: what is proposed is in the store before it is in a folder; a result is taken for
// the very program that the run's tree has under that number, once; what never comes back stays in flight, may be sent
// again, or given up, and is still taken when it comes after all.
#pragma once

#include "flow/run/state/options.h"
#include "record/progress.h"

namespace solstice::flow {

struct ProposeOptions {
  OptimizeOptions run;        // `resume`: a run that goes on; else a new one of `file`
  int count = 4;              // candidates of the batch
  std::filesystem::path out;  // "": batch-ID, in the working folder
  bool again = false;         // nothing new: what is in flight, once more
  bool give_up = false;       // do not wait for candidates in flight
};

struct ProposeOutcome {
  std::string run;
  std::filesystem::path folder;  // "" where there was nothing to propose
  int candidates = 0;
  int in_flight = 0;                       // of the run, these included
  std::string why;                         // there are fewer than were asked for
  bool over = false;                       // nobody would propose more: the run may end
  int skipped = 0;                         // expected to lose, so not tried
  std::optional<Error> agent_failed = {};  // that is what a language model's provider said after the first of them
};

// Errors: those of optimize() up to the search; of a proposer that proposed nothing; bad_argument where the folder
// exists.
Result<ProposeOutcome> propose_batch(const ProposeOptions& options, Progress& progress);

struct EvaluateOptions {
  std::filesystem::path folder;
  std::string device = "auto";  // auto and gpu need one, model predicts
  GpuChoice gpus;               // none given: GPU 0 alone
  bool allow_busy = false;
};

struct EvaluateOutcome {
  bool predicted = false;                 // times that count as measured are predicted
  int measured = 0, there = 0, left = 0;  // now, before, and not reached
  int usable = 0;                         // of the measured
  int predictions = 0;  // that were there before: they stand where this predicts too, else they are measured
};

// Fills in the results that are missing, one file each as it comes, so that a stopped one goes on. What is damaged or
// of another batch is missing, and so is a prediction where this measures. Another build than the one that proposed, or
// that measured what is there, is told. Needs no store and no network. Errors: those of optimize() up to the search;
// bad_argument for a folder that is no batch, or another machine than it is for.
Result<EvaluateOutcome> evaluate_batch(const EvaluateOptions& options, Progress& progress);

struct AbsorbOutcome {
  std::string run;
  int taken = 0, known = 0,
      missing = 0;                   // results: new ones, ones that were there already, ones that are not in the folder
  std::vector<std::string> refused;  // results that were not taken, and why
  std::vector<std::string> warnings;  // of results that were taken, and whose times may not compare
  int in_flight = 0;                  // of the run, afterwards
  int best = 0;                       // number of the fastest trial; 0: none is usable
  bool predicted = false;             // its time is a cost model's
  Seconds best_time, original;
};

// A result that is damaged, impossible or of another program is refused, and the others are taken; warned of are those
// that another driver, torch or build measured than the run's. Errors: not_found where the run is not in this store;
// bad_argument for a batch of another machine than the run's, or that another GPU model measured.
Result<AbsorbOutcome> absorb_batch(const std::filesystem::path& folder, const std::filesystem::path& store);

}  // namespace solstice::flow
