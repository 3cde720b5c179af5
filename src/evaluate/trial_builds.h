// Plans and cubins of a search's trials: those of trial N lie in FOLDER/N.
#pragma once

#include <filesystem>
#include <functional>

#include "evaluate/findings/diagnosing.h"
#include "evaluate/preparation.h"
#include "search/tree.h"

namespace solstice::evaluate {

// A trial that was begun: its text is checked, and the compiler is at work.
struct BegunTrial {
  BegunTrial(const search::Node& of, const Setting& setting, toolchain::Compiler& compiler, Seconds best_so_far)
      : node(of.id),
        candidate(of.proposal.program, setting, &compiler),
        precision(of.proposal.precision),
        best(best_so_far) {}
  int node;
  Preparation candidate;
  search::Precision precision;
  Seconds best;  // of those that had come in when it was begun; 0: none works, or nobody says
  CodeReading code = {};
  Diagnosing diagnosis = {};  // last: it reads the candidate

  // The measurement of this trial gets its diagnosis; waits for that.
  void conclude(Seconds waited, search::Measurement& out) {
    const DiagnosisTime took = diagnosis.finish(waited, out.record);
    out.cost += took.disassembly + took.tools;  // that of facts is in the measurement's
  }
};

class TrialBuilds {
 public:
  // `compiler` and what the setting names outlive it. `best`: the fastest trial of the search so far, of earlier
  // processes too, so that a resumed run diagnoses what it would have otherwise.
  TrialBuilds(Setting setting, toolchain::Compiler& compiler, std::filesystem::path folder,
              std::function<Seconds()> best = {});
  // In one thread: candidates share what is known of their meaning.
  BegunTrial begin(const search::Node& node) const {
    return BegunTrial(node, setting_, compiler_, best_ ? best_() : Seconds(0));
  }
  // A trial's plan and cubins, where its folder does not hold them: it was measured before the run was resumed.
  Status build(const search::Node& node) const;
  const Setting& setting() const { return setting_; }
  std::filesystem::path plan_of(int node) const { return folder_of(node) / "plan.json"; }
  std::filesystem::path folder_of(int node) const { return folder_ / std::to_string(node); }

 private:
  Setting setting_;
  toolchain::Compiler& compiler_;
  std::filesystem::path folder_;
  std::function<Seconds()> best_;
};

}  // namespace solstice::evaluate
