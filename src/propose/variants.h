// Variants of a problem that a search has met: the formulations that open it, other cuts of their equations,
// those that one rewrite more or less leads to, programs that somebody else wrote. Each is made when it is first
// needed, and from what the tree says of a candidate alone, so that a search that is resumed finds all of them again.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "propose/formulation/formulation.h"
#include "propose/moves/moves.h"
#include "search/tree.h"

namespace solstice::propose {

struct Variant;

// Equations that one rewrite more or less leads to, as far as they were looked at.
struct Reworded {
  Rewording how;
  bool looked_at = false;
  Variant* variant = nullptr;  // null: they cannot be run, or are no others
};

struct Variant {
  Formulation formulation;
  std::string cut = {};  // of its equations, as the tree keeps it
  int base = 0;          // number of the trial whose program it is; 0: it is ours
  // Looked for when they are first needed.
  std::optional<Alike> groups = {};               // its kernels that are alike
  std::optional<std::vector<Recut>> others = {};  // other cuts of its equations
  std::optional<Worth> worth = {};                // of its options, by memory
  std::optional<std::vector<Reworded>> rewrites = {};

  // The candidate is of this variant, as far as its record says.
  bool has(const search::Proposal& proposal, int node) const;
};

// A candidate.
struct Place {
  Variant* variant = nullptr;
  Choice choice;
};

class Variants {
 public:
  explicit Variants(std::vector<Formulation> openings);

  size_t openings() const { return openings_; }
  Variant& opening(size_t i) { return *variants_[i]; }

  // Null where no such cut can be run: the tree is of another build.
  Variant* find(const std::string& label, const std::string& cut, const Partition* parts = nullptr);
  // Of the first `most` variants that one rewrite more or less leads to, those that can be run, the fastest by the cost
  // models first. With `by`, of those alone that this rewrite leads to.
  std::vector<const Reworded*> rewritten(Variant& from, size_t most, const std::string& by = "");
  // Nothing where it is no program that can be varied. `node`: its number; of what was skipped 0.
  const std::optional<Place>& place_of(const search::Tree& tree, const search::Proposal& proposal, int node);

 private:
  Variant* written(const search::Tree& tree, int base);
  Variant* base_of(const std::string& label);
  Variant* rewritten_as(const std::string& label);
  bool opens(const std::string& equations) const;
  std::optional<Place> found(const search::Tree& tree, const search::Proposal& proposal, int node);
  Variant* add(Formulation formulation, int base = 0);

  std::vector<std::unique_ptr<Variant>>
      variants_;                               // those that open first, then others in the order in which they were met
  std::unordered_map<int, Variant*> written_;  // by trial; null: its program cannot be varied
  std::unordered_map<std::string, std::optional<Place>> places_;  // by program: to find out takes a while
  size_t openings_ = 0;
};

}  // namespace solstice::propose
