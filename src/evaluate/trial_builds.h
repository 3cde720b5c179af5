// Plans and cubins of a search's trials: those of trial N lie in FOLDER/N.
#pragma once

#include <filesystem>

#include "evaluate/preparation.h"
#include "search/tree.h"

namespace solstice::evaluate {

// A trial that was begun: its text is checked, and the compiler is at work.
struct BegunTrial {
  BegunTrial(const search::Node& of, const Setting& setting, toolchain::Compiler& compiler)
      : node(of.id), candidate(of.proposal.program, setting, &compiler), precision(of.proposal.precision) {}
  int node;
  Preparation candidate;
  search::Precision precision;
};

class TrialBuilds {
 public:
  // `compiler` and what the setting names outlive it.
  TrialBuilds(Setting setting, toolchain::Compiler& compiler, std::filesystem::path folder);
  // In one thread: candidates share what is known of their meaning.
  BegunTrial begin(const search::Node& node) const { return BegunTrial(node, setting_, compiler_); }
  // A trial's plan and cubins, where its folder does not hold them: it was measured before the run was resumed.
  Status build(const search::Node& node) const;
  const Setting& setting() const { return setting_; }
  std::filesystem::path plan_of(int node) const { return folder_of(node) / "plan.json"; }
  std::filesystem::path folder_of(int node) const { return folder_ / std::to_string(node); }

 private:
  Setting setting_;
  toolchain::Compiler& compiler_;
  std::filesystem::path folder_;
};

}  // namespace solstice::evaluate
