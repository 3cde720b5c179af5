// Blocks: runs of items that may become calls of one def. Two blocks have the same key if they differ in their tensors'
// names, in their module path and in extents alone; what differs is listed in the order of one walk.
#pragma once

#include <string>
#include <vector>

#include "import/draft/draft.h"

namespace solstice::importer {

// Occurrences of each tensor of a draft, by item; {count, 0} where there is none.
struct Uses {
  struct Range {
    size_t first = static_cast<size_t>(-1);
    size_t last = 0;
    bool empty() const { return first > last; }
    bool within(size_t from, size_t to) const { return first >= from && last < to; }
    void add(size_t item);
  };
  std::vector<Range> any, writes;
  std::vector<bool> shared;  // another tensor has the same storage
  explicit Uses(const Draft& draft);
};

struct Block {
  size_t first = 0, last = 0;  // items [first, last)
  std::string at;              // module path that what it owns is relative to

  enum class Role { kFormal, kOwned, kInner, kResult };
  std::string key;  // "" where the items cannot be a block
  std::vector<int> tensors;
  std::vector<Role> roles;
  std::vector<std::vector<int>> shape_slots;  // of each tensor; -1: a number
  std::vector<Size> slots;                    // the sizes that are no numbers
  int owned = 0;                              // declarations that would move into the def

  size_t length() const { return last - first; }
};

// Fills in what follows `at`.
void describe(const Draft& draft, const Uses& uses, Block& block);

// The structure of one item alone: equal for items that may stand at the same place of two blocks.
std::string structure_of(const Draft& draft, const DraftItem& item);

}  // namespace solstice::importer
