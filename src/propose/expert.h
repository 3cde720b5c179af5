// The built-in expert: no network, no key, deterministic. It starts from the cost models' best schedule of a partition
// and then varies one kernel at a time around the best that was measured, most expensive kernel first.
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

// A candidate that an earlier run measured on the same machine. It decides what is tried first, never what wins.
struct Known {
  std::vector<std::string> settings;  // Proposal::settings
  std::string program;
  Seconds time;
};

class Expert : public search::Proposer {
 public:
  Expert(std::vector<Axis> axes, Render render, const std::vector<Known>& known = {});
  Result<std::optional<search::Proposal>> propose(const search::Tree& tree) override;

 private:
  Seconds predicted(const Choice& choice) const;
  size_t next_axis() const;  // axes_.size() when all options were tried
  std::optional<Choice> choice_of(const std::vector<std::string>& settings) const;
  std::vector<std::string> settings_of(const Choice& choice) const;
  Result<std::optional<search::Proposal>> open(const search::Tree& tree);
  Result<std::optional<search::Proposal>> emit(const search::Tree& tree, Choice choice, int parent, std::string reason);

  std::vector<Axis> axes_;
  Render render_;
  std::map<std::string, Seconds> known_;   // by program
  std::vector<std::string> opening_;       // settings of the fastest known one
  Choice first_;                           // what is varied until something was measured
  std::vector<size_t> tried_;              // options of each axis that were proposed, from the front
  std::map<std::string, Choice> choices_;  // of the texts proposed
};

}  // namespace solstice::propose
