// The built-in expert: no network, no key, deterministic. Its moves: from the problem, the cost models' best schedule of each way
// to compute it, and what earlier runs found fastest; from a candidate, another schedule of one kernel.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "propose/partition.h"
#include "propose/render.h"
#include "search/search.h"

namespace solstice::propose {

// The schedules of one kernel worth trying, of every family that can run it, best first by their cost models.
struct Axis {
  std::string kernel;
  std::vector<Schedule> options;
  std::vector<Seconds> predicted;  // of each option
};

// The schedules of every kernel of `scheduled` (a program that apply() made).
Result<std::vector<Axis>> axes_of(const ir::Program& scheduled, const PlanningContext& context);

// The option of each axis.
using Choice = std::vector<size_t>;
// A choice as the text of a candidate.
using Render = std::function<Result<std::string>(const std::vector<Axis>&, const Choice&)>;

// One way to compute the problem: its own equations or rewritten ones, cut into kernels.
struct Formulation {
  std::string label = {};  // "" the problem's own equations, else "rewritten by factor_sums"
  std::vector<Axis> axes = {};
  Render render = {};

  std::vector<std::string> settings_of(const Choice& choice) const;
  // Nothing where a kernel has another name or no longer such a setting.
  std::optional<Choice> choice_of(const std::vector<std::string>& settings) const;
  Seconds predicted(const Choice& choice) const;
};

// A candidate that an earlier run measured on the same machine. It decides what is tried first, never what wins.
struct Known {
  std::vector<std::string> settings;  // Proposal::settings
  std::string program;
  Seconds time;
};

class Expert : public search::Proposer {
 public:
  // The most promising formulation first.
  explicit Expert(std::vector<Formulation> formulations, const std::vector<Known>& known = {});
  Result<std::optional<search::Proposal>> propose(const search::Tree& tree, int node) override;

 private:
  // A candidate of ours, as the tree holds it.
  struct Place {
    const Formulation* formulation = nullptr;
    Choice choice;
  };
  std::optional<Place> place_of(const search::Proposal& proposal) const;
  Result<std::optional<search::Proposal>> open(const search::Tree& tree) const;
  Result<std::optional<search::Proposal>> vary(const search::Tree& tree, int node) const;
  Result<search::Proposal> emit(const Formulation& formulation, const Choice& choice, std::string reason) const;

  std::vector<Formulation> formulations_;
  std::map<std::string, Seconds> known_;              // by program
  std::vector<std::optional<Choice>> fastest_known_;  // of each formulation
};

}  // namespace solstice::propose
