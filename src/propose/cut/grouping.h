// The graph of groups: producers, siblings, and the order in which groups can run. Equations are in text order, which
// is an order of execution, so a group can only depend on groups with a smaller first equation.
#pragma once

#include <set>
#include <vector>

#include "propose/cut/dataflow.h"
#include "propose/cut/group.h"

namespace solstice::propose {

// Groups keep their places; one that was merged into another is left empty.
class Grouping {
 public:
  Grouping(const ir::Program& program, const Dataflow& flow);

  size_t size() const { return groups_.size(); }
  const Group& operator[](size_t group) const { return groups_[group]; }
  bool alive(size_t group) const { return !groups_[group].equations.empty(); }
  // A group in this place, or in a new one behind the last. Its equations are no other group's from then on.
  void put(size_t at, Group group);

  std::set<size_t> producers_of(size_t group) const;
  // Groups whose largest tensor from outside is the same one: together they read it once (the mean and the variance of
  // data).
  std::set<size_t> siblings_of(size_t group) const;
  // A path from producer to consumer through a third group forbids merging the two.
  bool has_detour(size_t producer, size_t consumer) const;
  // Groups that the consumer may be merged with.
  std::set<size_t> partners_of(size_t consumer) const;

  // Producers before consumers.
  std::vector<Group> ordered() const;
  // Every group comes after those that it reads from.
  bool is_order(const std::vector<Group>& groups) const;

 private:
  size_t owner_of(int equation) const { return owner_[static_cast<size_t>(equation)]; }
  int mainly_read(size_t group) const;
  void place(size_t group, std::vector<char>& placed, std::vector<Group>& out) const;

  const ir::Program& program_;
  const Dataflow& flow_;
  std::vector<Group> groups_;
  std::vector<size_t> owner_;  // equation -> its group
};

// The equations of both groups in text order.
std::vector<int> union_of(const Group& a, const Group& b);

}  // namespace solstice::propose
