// Options of a run, grouped by subject, as a caller gives them.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/units.h"
#include "evaluate/findings/diagnosis.h"
#include "flow/run/agent/agent_choice.h"
#include "flow/run/agent/handover.h"
#include "flow/run/gpu/gpu_choice.h"
#include "search/stop_rule.h"

namespace solstice::flow {

struct ModuleOptions {
  std::filesystem::path file;  // FILE.py or PROBLEM.ucut; empty with oracle_fd: the module the caller's process holds
  std::filesystem::path of;    // of PROBLEM.ucut: FILE.py of the module that it computes; "": none was named
  std::string class_name;      // a class, an instance or a function of the module's file; "": the only one with inputs
  std::string mode;            // train | eval; "": as it is made
  std::string name;            // in reports; "": from the file
  std::optional<int> oracle_fd;  // the caller's process is the oracle
  bool part = false;             // the oracle has entered a part of a module (flow/run/parts), and stays there
  std::string part_of;           // the module's run, of a part
  std::string like;              // the run of a part that is equal to this one: what it found is tried first
};

struct PlaceOptions {
  std::string device = "auto";  // auto | gpu | model
  bool detached = false;        // candidates are measured elsewhere: `device` is for what happens here
  std::string machine;          // machine description; "": found from the device, without one the resumed run's or h200
  GpuChoice gpus;               // that measure candidates while the run searches; none given: the module's alone
  bool allow_busy = false;      // go on where others keep the GPU busy
};

// Terms that every candidate keeps.
struct CandidateTerms {
  std::string numerics = "reference";  // reference | high | medium
  bool frozen = false;                 // --weights frozen
  std::string rewrites = "on";         // also equations by algebraic rewrites: on | strict (those that keep NaN) | off

  bool rewritten() const { return rewrites != "off"; }
  bool keep_nonfinite() const { return rewrites != "on"; }
};

struct SearchOptions {
  Seconds budget{60};
  bool timed = false;  // the user gave the budget's time: it ends a trace of the module too
  int trials = 40;
  bool in_turns = false;  // trials are given out one by one: the budget's time is that of its own trials
  double eps = 0.02;      // the search stops within this share of the practical bound; 0: it does not
  int window = 8;         // and after so many trials without a gain; 0: never
  double roi = 0;         // and where the next one is expected to bring less log-gain; 0: never
  std::string policy;     // search/policy.h; "": that of the run that is resumed, else greedy
  uint64_t seed = 1;      // of the policy
  bool memory = true;     // moves gained in other problems order the search; gains made here are kept either way
  bool findings = true;   // findings of a candidate order the expert's moves from it
  bool only = false;      // ends with the search: nothing is verified in full, and there is no drop-in
  std::optional<search::Stop> searched;  // reason why the search of the resumed run is over: no trial is added
};

struct OptimizeOptions {
  ModuleOptions module;
  PlaceOptions place;
  CandidateTerms terms;
  SearchOptions search;
  AgentChoice agent;               // a language model that proposes too
  std::string resume;              // a run of the store that goes on, or "last"; "": a new one
  std::set<std::string> left_out;  // options that nobody gave, by name: the resumed run has its own (resume_options.h)
  std::filesystem::path out;       // "": runs/NAME, or runs/NAME-2, ... next to outcomes of other modules
  std::filesystem::path store;     // "": the user's store
  evaluate::DiagnosisOptions diagnosis;
  bool baselines = true;  // time torch.compile and TF32 next to eager
  bool several = false;   // more runs follow: resources that they share are made ready as well
  bool keep = false;      // a run of the same module may follow: prepared inputs stay until Engine::release_problem()
  std::vector<std::string> command;  // argv, for the report
};

// Name of the problem in reports.
std::string name_of_problem(const OptimizeOptions& options);

// The same once they are resolved (resolve.h): no default and no option of a resumed run is looked up later.
// `search.policy` and `agent.terms` are complete.
struct RunOptions : OptimizeOptions {
  bool named_out = false;                  // the caller named `out`; else it is the resumed run's, or the usual one
  bool asked_to_predict = false;           // the caller named the device `model`
  std::string predicted_machine = "h200";  // machine of a run without GPU that names none
  bool had_batches = false;                // the resumed run was measured elsewhere
  Lead led_before = {};                    // of the resumed run
  size_t model_since = 0;                  // Lead::model_since of this one
  std::string candidate = "candidate";     // name of a candidate's text in diagnostics
};

}  // namespace solstice::flow
