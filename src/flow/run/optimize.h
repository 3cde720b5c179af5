// The main job: a PyTorch module in, a verified and measured replacement out. This is the one place that wires the
// oracle, the importer, the planner, the search, the judge, the store and the reports together.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "flow/run/agent/agent_choice.h"
#include "flow/run/gpu/gpu_choice.h"
#include "record/progress.h"
#include "record/report.h"
#include "search/search.h"

namespace solstice::flow {

struct OptimizeOptions {
  std::filesystem::path file;   // FILE.py; empty with oracle_fd: the module the caller's process holds
  std::string class_name;       // "": `Model`, or the only module class with example inputs
  std::string device = "auto";  // auto | gpu | model
  bool detached = false;        // candidates are measured elsewhere: `device` is for what happens here
  std::string machine;          // machine description; "": found from the device, without one the resumed run's or h200
  std::string numerics = "reference";  // reference | high | medium
  bool frozen = false;                 // --weights frozen
  bool rewrites = true;                // also try the equations that algebraic rewrites make
  Seconds budget{60};
  int trials = 40;
  bool in_turns = false;  // trials are given out one by one: the budget's time is that of its own trials
  double eps = 0.02;      // the search stops within this share of the practical bound; 0: it does not
  int window = 8;         // and after so many trials without a gain; 0: never
  double roi = 0;         // and where the next one is expected to bring less log-gain; 0: never
  std::string policy;     // of the search (search/policy.h); "": that of the run that is resumed, else greedy
  uint64_t seed = 1;      // of the policy
  bool memory = true;  // what moves gained in other problems orders the search; what they gain here is kept either way
  bool search_only = false;        // ends with the search: nothing is verified in full, and there is no drop-in
  AgentChoice agent;               // a language model that proposes too
  std::string resume;              // a run of the store that goes on, or "last"; "": a new one
  std::set<std::string> left_out;  // options that nobody gave, by name (flow/resume_options.h): that run has its own
  std::optional<search::Stop>
      searched;               // why the search of the run that goes on is over: no trial is added, it comes to its end
  std::filesystem::path out;  // "": runs/NAME, or runs/NAME-2, ... beside outcomes of other modules
  std::filesystem::path store;  // "": the user's store
  std::string problem;          // name in reports; "": from the file
  bool baselines = true;        // time torch.compile and TF32 beside eager
  GpuChoice gpus;               // that measure candidates while it searches; none given: the module's alone
  bool allow_busy = false;      // go on where others keep the GPU busy
  bool several = false;         // more runs follow: what they share is made ready as well
  bool keep = false;  // a run of the same module may follow: what was prepared stays until Engine::release_problem()
  std::optional<int> oracle_fd;      // the caller's process is the oracle
  std::vector<std::string> command;  // argv, for the report
};

struct OptimizeOutcome {
  Report report;
  std::filesystem::path out;  // where report.md, report.json and, if faster, model_new.py are
  std::optional<Error> failed =
      {};  // a language model's provider, or the policy, ended its part of the search; all else was done
  bool interrupted = false;  // the search was stopped; the best it had found was verified and reported
};

// What several runs in a row can share: the Python process, the compiler's workers, the judge. A run that finds one
// missing, or that breaks one, starts another.
class Engine {
 public:
  Engine();
  ~Engine();
  Engine(const Engine&) = delete;
  struct Parts;
  Parts& parts() { return *parts_; }
  void release_problem();  // frees what the last one held on the GPU
  // For a problem that takes turns with others: a Python process of its own, and the same compiler and judge, as far as
  // they run.
  std::unique_ptr<Engine> beside() const;
  void share(const Engine& other);  // its compiler and judge
  bool sound() const;               // its judge's CUDA context is not broken, if it has a judge
  void drop_judge();

 private:
  std::unique_ptr<Parts> parts_;
};

// Bad input, a missing device and the like are errors; a problem that cannot be made faster, or has an operator
// without a rule, is an outcome (`not_faster`, `unsupported`). On Ctrl-C (base/process/interrupt.h) the best so far is
// kept and reported.
Result<OptimizeOutcome> optimize(const OptimizeOptions& options, Progress& progress);
Result<OptimizeOutcome> optimize(const OptimizeOptions& options, Progress& progress, Engine& engine);

}  // namespace solstice::flow
