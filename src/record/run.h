// A run: one use of `solstice optimize` or one problem of a bench, as the store keeps it (schema solstice.run/1).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "record/fields.h"

namespace solstice {

enum class RunState { kRunning, kFinished, kInterrupted, kFailed, kWaiting };
std::vector<const char*> enum_names(RunState);

// Outcome of the run. kNone while it runs and after a failure; one that went on and failed keeps what it had.
// kPredicted: nothing was measured, so nothing was compared. kInterrupted: it was stopped before it found anything
// faster, which says nothing of what it would have found.
enum class RunOutcome { kNone, kFaster, kNotFaster, kPredicted, kInterrupted, kUnsupported };
std::vector<const char*> enum_names(RunOutcome);

struct RunRecord {
  static constexpr const char* kSchema = "solstice.run/1";
  std::string id;                    // set by the store: sortable time plus a few random letters
  std::string problem;               // name for a person: "linear_gelu", "1/2"
  std::string problem_key;           // hash of all that defines the problem
  std::string options_key;           // hash of all options that change the outcome
  std::string file;                  // the user's file, whole path; "" for a module passed in Python
  std::vector<std::string> command;  // argv that reproduces it, as it was given
  std::string working_folder;        // folder of the command
  std::string machine;               // name of the machine description
  std::string device;  // a GPU's name or "model"; until it is known what was asked for: "auto", "gpu" or "model"
  std::map<std::string, std::string> versions;  // solstice, driver, nvrtc, torch, python
  std::string folder;                           // output folder, whole path
  std::string started;                          // UTC
  std::string finished;                         // UTC, "" while it runs
  RunState state = RunState::kRunning;
  RunOutcome outcome = RunOutcome::kNone;
  std::string reason;  // one line: why not faster, unsupported or failed
  Json summary;        // headline figures, as in report.json
  // Everything needed to resume it without its command. Of the problem: class_name, mode, device, machine, numerics,
  // frozen, rewrites, memory, findings, counters. Of its search, which may change: trials, budget, eps, window, roi;
  // `batches` where it is measured elsewhere. Of its leader: led_by ("model" or "expert"), agent, agent_terms, and
  // model_since, the event from which the model's stops count.
  Json options;
  std::string policy;  // of its search, with parameters
  int64_t seed = 1;    // of the policy
  int64_t facts = 0;   // number of the last fact of other runs that its search went by; 0: of none
  // In the words of today where an earlier Solstice wrote it.
  void renew();
  static auto fields() {
    return std::make_tuple(
        field("id", &RunRecord::id, "sortable, unique"), field("problem", &RunRecord::problem, "name for a person"),
        field("problem_key", &RunRecord::problem_key, "hash of all that defines the problem"),
        field("options_key", &RunRecord::options_key, "hash of the options that change the outcome"),
        optional_field("file", &RunRecord::file, "the user's file"),
        optional_field("command", &RunRecord::command, "argv that reproduces it"),
        optional_field("working_folder", &RunRecord::working_folder, "where the command was given"),
        optional_field("machine", &RunRecord::machine, "machine description"),
        optional_field("device", &RunRecord::device, "GPU's name, model, or what was asked for until it is known"),
        optional_field("versions", &RunRecord::versions, "of everything that matters"),
        optional_field("folder", &RunRecord::folder, "where the outcome was written"),
        field("started", &RunRecord::started, "UTC"), optional_field("finished", &RunRecord::finished, "UTC"),
        field("state", &RunRecord::state, "running, finished, interrupted, failed or waiting for a batch"),
        optional_field("outcome", &RunRecord::outcome, "what it came to"),
        optional_field("reason", &RunRecord::reason, "why not faster, unsupported or failed"),
        optional_field("summary", &RunRecord::summary, "headline figures"),
        optional_field("options", &RunRecord::options, "of problem, search and who leads it: what going on takes"),
        optional_field("policy", &RunRecord::policy, "of its search, with parameters"),
        optional_field("seed", &RunRecord::seed, "of the policy"),
        optional_field("facts", &RunRecord::facts, "number of the last fact that its search went by"));
  }
};

}  // namespace solstice
