// The built-in expert: no network, no key, deterministic. Its moves: from the problem, the cost models' best schedule of each way
// to compute it, and what earlier runs found fastest; from a candidate, another schedule of one kernel, two kernels made one, one
// taken apart in two. What such moves gained in searches of other problems (search/memory.h) orders them, and chooses the schedules
// that are opened with; without memory the cost models do.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "propose/formulation.h"
#include "search/memory.h"
#include "search/search.h"

namespace solstice::propose {

// A candidate that an earlier run measured on the same machine. It decides what is tried first, never what wins.
struct Known {
  std::vector<std::string> settings;  // Proposal::settings
  std::string program;
  Seconds time;
  std::string equations = {};  // Proposal::equations
  std::string cut = {};        // Proposal::cut
};

class Expert : public search::Proposer {
 public:
  // The most promising formulation first. Without facts (null, or empty) memory changes nothing.
  explicit Expert(std::vector<Formulation> formulations, const std::vector<Known>& known = {},
                  std::shared_ptr<const search::Memory> memory = nullptr);
  ~Expert() override;
  Result<std::optional<search::Proposal>> propose(const search::Tree& tree, int node) override;

 private:
  // A formulation, its kernels that are alike, and the other cuts of its equations: both are looked for when they are first needed.
  struct Way;
  // A candidate of ours, as the tree holds it.
  struct Place {
    Way* way = nullptr;
    Choice choice;
  };
  std::optional<Place> fastest_of(const std::string& label, const std::vector<Known>& known);
  Way* way_of(const std::string& label, const std::string& cut, const Partition* parts = nullptr);
  const std::optional<Place>& place_of(const search::Proposal& proposal);
  Result<std::optional<search::Proposal>> open(const search::Tree& tree);
  Result<std::optional<search::Proposal>> vary(const search::Tree& tree, int node);
  const std::vector<std::vector<double>>& worth_of_way(Way& way) const;
  Result<std::optional<search::Proposal>> recut(const search::Tree& tree, const Place& from, Seconds most);
  Result<search::Proposal> emit(const Way& way, const Choice& choice, std::string reason) const;

  std::vector<std::unique_ptr<Way>> ways_;        // those that open first, then other cuts in the order in which they were tried
  std::shared_ptr<const search::Memory> memory_;  // null: none
  size_t openings_ = 0;
  std::unordered_map<std::string, std::optional<Place>> places_;  // by program: to find out takes a while
  std::map<std::string, Seconds> known_;                          // by program
  std::vector<std::optional<Place>> fastest_known_;               // of the equations of each opening
};

}  // namespace solstice::propose
