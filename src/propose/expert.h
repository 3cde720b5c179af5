// The built-in expert: no network, no key, deterministic. Its moves: from the problem, the cost models' best schedule
// of each way to compute it, and what earlier runs found fastest; from a candidate, another schedule of one kernel, two
// kernels made one, one taken apart in two, one rewrite of its equations more or less; from a program that somebody
// else wrote and that works, another schedule of one of its kernels. What such moves gained in searches of other
// problems (search/memory.h) orders them, and chooses the schedules that are opened with; without memory the cost
// models do. Findings of the candidate (moves/counsel.h) put what they advise first.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "propose/moves/counsel.h"
#include "propose/variants.h"
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
                  std::shared_ptr<const search::Memory> memory = nullptr, Hearing hearing = {});
  ~Expert() override;
  Result<std::optional<search::Proposal>> propose(const search::Tree& tree, int node) override;

  // From a program that somebody else wrote, or what was derived from it, which works: the move that is expected to
  // gain most, where one is expected to gain. At first all its kernels take the cost models' choice.
  Result<std::optional<search::Proposal>> tune(const search::Tree& tree, int node);

  // From a candidate that was wrong: the same with arithmetic that was not (moves/more_exact.h); nothing where there is
  // none, where it was tried, and of candidates that cannot be varied.
  Result<std::optional<search::Proposal>> more_exact(const search::Tree& tree, int node);

 private:
  // Candidates that were tried of one candidate's variant.
  struct Surroundings {
    std::map<int, Choice> choices = {};  // of nodes; those of `tried` point here
    std::vector<Tried> tried = {};
    size_t cuts = 0, rewrites = 0;  // derived from them
  };
  std::optional<Place> fastest_beside(const std::vector<Known>& known);
  std::optional<Place> fastest_of(const std::string& label, const std::vector<Known>& known);
  Result<std::optional<search::Proposal>> open(const search::Tree& tree);
  Surroundings around(const search::Tree& tree, const Place& place);
  Result<std::optional<search::Proposal>> vary(const search::Tree& tree, int node);
  Result<search::Proposal> moved(const Place& from, const Move& move);
  std::vector<Move> gains(const Place& from, const std::vector<Move>& moves);
  Result<std::optional<search::Proposal>> all_by_models(const Place& from);
  const Worth& worth_of_variant(Variant& variant) const;
  const std::vector<Recut>& other_cuts(Variant& variant);
  Result<std::optional<search::Proposal>> recut(const search::Tree& tree, const Place& from, Seconds most);
  Result<std::optional<search::Proposal>> recut_to(const search::Tree& tree, const Place& from, const Recut& other,
                                                   const std::string& why);
  Result<std::optional<search::Proposal>> rewrite(const search::Tree& tree, const Place& from,
                                                  const std::vector<const Reworded*>& others, Seconds most,
                                                  const std::string& why = "");
  Result<std::optional<search::Proposal>> advised(const search::Tree& tree, const Place& from,
                                                  const std::vector<Counsel>& counsel, double above, Seconds most);
  Result<std::optional<search::Proposal>> before(const search::Tree& tree, const Place& from, const Surroundings& near,
                                                 const Move& move, Seconds predicted);
  Result<search::Proposal> emit(const Variant& variant, const Choice& choice, std::string reason) const;
  bool is_new(const search::Tree& tree, const std::string& program);

  Variants variants_;
  std::shared_ptr<const search::Memory> memory_;  // null: none
  Hearing hearing_;
  std::map<std::string, Seconds> known_;                        // by program
  std::vector<std::optional<Place>> fastest_known_;             // of the equations of each opening
  std::optional<Place> fastest_rewritten_;                      // of others, where no opening was as fast
  std::unordered_map<std::string, std::string> bare_programs_;  // without comments, by program
};

}  // namespace solstice::propose
