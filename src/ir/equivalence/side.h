// One of the two programs of a proof: which of its tensors stand for themselves, and elements of the others as normal
// terms.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/normal/form.h"
#include "ir/rewrite/finite.h"

namespace solstice::ir {

struct Side {
  Side(const Program& p, std::string prefix_of);

  bool is_recurrence(int tensor) const {
    return program.equation(pieces[static_cast<size_t>(tensor)].front()).group >= 0;
  }
  const std::vector<int>& pieces_of(int tensor) const { return pieces[static_cast<size_t>(tensor)]; }
  // Reads of the interface and of cuts by the definition of a tensor, through tensors that are neither and through
  // `opened`, by name.
  std::map<std::string, int> reads_below(int tensor, const std::set<int>& opened) const;
  // The tensors whose definitions read it, and those that read these.
  std::set<int> dependents(int tensor) const;

  const Program program;
  std::string prefix;  // of tensors that are not shared: never equal to the other side's
  std::vector<std::vector<int>> pieces;
  std::set<int> shared;  // the interface
  std::set<int> cuts;    // equal to the other side's tensor of the same name
  const Definitions definitions{program};
  mutable FiniteValues finite{program, definitions, FiniteValues::Of::kReals};
};

// An element of a tensor as a function of the indices of one piece, which have places instead of names.
struct Pattern {
  std::vector<normal::TermId> left;
  std::vector<int> free;
};

std::vector<Pattern> patterns_of(normal::Pool& pool, const Side& side, int tensor);

// Pieces, then digits of their indices: at the finer ones the other side's guards and divisions are decided.
std::pair<size_t, size_t> fineness(const std::vector<Pattern>& patterns);

// The tensor's elements at these patterns, normal; the cuts of `opened` are substituted as what is no cut. Empty where
// a budget ran out.
std::vector<normal::TermId> values_at(normal::Pool& pool, const Side& side, int tensor,
                                      const std::vector<Pattern>& patterns, const std::set<int>& opened = {});

// A recurrence's pieces as they are written, normal and in an order that does not depend on the text: by pattern the
// value.
using Pieces = std::vector<std::pair<std::vector<normal::TermId>, normal::TermId>>;
std::optional<Pieces> steps_of(normal::Pool& pool, const Side& side, int tensor);

}  // namespace solstice::ir
