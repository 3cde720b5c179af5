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
  // Changes with every put() in this place, and is no other group's.
  size_t stamp(size_t group) const { return stamps_[group]; }

  std::set<size_t> producers_of(size_t group) const;
  // Groups whose largest tensor from outside is the same one: together they read it once (the mean and the variance of
  // data).
  std::set<size_t> siblings_of(size_t group) const;
  // A path from producer to consumer through a third group forbids merging the two.
  bool has_detour(size_t producer, size_t consumer) const;
  // By group: a path leads from it to `group`, or from `group` to it; `group` is so too.
  std::vector<char> related_to(size_t group) const;
  // The groups that follow `group` in place and need nothing but it, each other and what does not depend on these:
  // together they can run as one. At most `count`, and none where the first that follows reads nothing of the group.
  std::vector<size_t> followers_of(size_t group, size_t count) const;
  // Groups that the consumer may be merged with.
  std::set<size_t> partners_of(size_t consumer) const;

  // Producers before consumers.
  std::vector<Group> ordered() const;
  // Every group comes after those that it reads from.
  bool is_order(const std::vector<Group>& groups) const;

 private:
  // Of a group: found once, since a long chain asks for them again and again.
  struct Facts {
    size_t stamp = 0;          // of the group that they are of
    std::vector<int> outside;  // tensors that it reads and does not write whole, each once
    int mainly_read = -1;      // the largest tensor that it reads and does not write; -1 if none
  };

  size_t owner_of(int equation) const { return owner_[static_cast<size_t>(equation)]; }
  const Facts& facts_of(size_t group) const;
  void find_facts(size_t group, Facts& out) const;
  bool depends_on(size_t group, const std::set<size_t>& others, int earliest) const;
  template <typename Next>
  void mark(size_t from, const Next& next, std::vector<char>& out) const;
  void place(size_t group, std::vector<char>& placed, std::vector<Group>& out) const;

  const ir::Program& program_;
  const Dataflow& flow_;
  std::vector<Group> groups_;
  std::vector<size_t> stamps_;  // of each group
  size_t last_stamp_ = 0;
  mutable std::vector<Facts> facts_;  // of each group, as far as they were asked for
  std::vector<size_t> owner_;         // equation -> its group
};

// The equations of both groups in text order.
std::vector<int> union_of(const Group& a, const Group& b);

}  // namespace solstice::propose
