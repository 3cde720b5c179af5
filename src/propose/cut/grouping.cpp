#include "propose/cut/grouping.h"

#include <algorithm>

namespace solstice::propose {

Grouping::Grouping(const ir::Program& program, const Dataflow& flow)
    : program_(program), flow_(flow), owner_(program.equations.size()) {}

void Grouping::put(size_t at, Group group) {
  for (int e : group.equations) owner_[static_cast<size_t>(e)] = at;
  groups_.resize(std::max(groups_.size(), at + 1));
  stamps_.resize(groups_.size());
  groups_[at] = std::move(group);
  stamps_[at] = ++last_stamp_;
}

const Grouping::Facts& Grouping::facts_of(size_t group) const {
  facts_.resize(groups_.size());
  Facts& out = facts_[group];
  if (out.stamp != stamps_[group]) {
    out = {stamps_[group], {}, -1};
    find_facts(group, out);
  }
  return out;
}

void Grouping::find_facts(size_t group, Facts& out) const {
  std::set<int> seen;
  for (int e : groups_[group].equations) {
    for (int tensor : flow_.reads[static_cast<size_t>(e)]) {
      if (!seen.insert(tensor).second) continue;
      const auto& writers = flow_.writers[static_cast<size_t>(tensor)];
      const auto own = std::count_if(writers.begin(), writers.end(), [&](int w) { return owner_of(w) == group; });
      if (own == 0 &&
          (out.mainly_read < 0 || program_.tensor(tensor).elements() > program_.tensor(out.mainly_read).elements()))
        out.mainly_read = tensor;
      if (static_cast<size_t>(own) < writers.size()) out.outside.push_back(tensor);
    }
  }
}

std::set<size_t> Grouping::producers_of(size_t group) const {
  std::set<size_t> out;
  for (int tensor : facts_of(group).outside) {
    for (int writer : flow_.writers[static_cast<size_t>(tensor)]) out.insert(owner_of(writer));
  }
  out.erase(group);
  return out;
}

std::set<size_t> Grouping::siblings_of(size_t group) const {
  std::set<size_t> out;
  const int tensor = facts_of(group).mainly_read;
  if (tensor < 0) return out;
  for (int reader : flow_.readers[static_cast<size_t>(tensor)]) {
    const size_t other = owner_of(reader);
    if (other != group && facts_of(other).mainly_read == tensor) out.insert(out.end(), other);
  }
  return out;
}

// Marks what `next` leads to from a group; `next(group, visit)`.
template <typename Next>
void Grouping::mark(size_t from, const Next& next, std::vector<char>& out) const {
  std::vector<size_t> todo{from};
  std::vector<char> seen(groups_.size(), 0);
  seen[from] = 1;
  while (!todo.empty()) {
    const size_t at = todo.back();
    todo.pop_back();
    out[at] = 1;
    next(at, [&](size_t group) {
      if (!seen[group]) todo.push_back(group);
      seen[group] = 1;
    });
  }
}

std::vector<char> Grouping::related_to(size_t group) const {
  std::vector<char> out(groups_.size(), 0);
  const auto backwards = [&](size_t at, const auto& visit) {
    for (int tensor : facts_of(at).outside) {
      for (int writer : flow_.writers[static_cast<size_t>(tensor)]) visit(owner_of(writer));
    }
  };
  const auto forwards = [&](size_t at, const auto& visit) {
    for (int e : groups_[at].equations) {
      for (int reader : flow_.readers[static_cast<size_t>(program_.equation(e).target)]) visit(owner_of(reader));
    }
  };
  mark(group, backwards, out);
  mark(group, forwards, out);
  return out;
}

// A path leads from one of the others, whose first equation is `earliest`, to the group.
bool Grouping::depends_on(size_t group, const std::set<size_t>& others, int earliest) const {
  std::vector<size_t> todo{group};
  std::set<size_t> seen{group};
  while (!todo.empty()) {
    const size_t at = todo.back();
    todo.pop_back();
    if (others.contains(at)) return true;
    for (size_t p : producers_of(at)) {
      if (groups_[p].equations.back() > earliest && seen.insert(p).second) todo.push_back(p);
    }
  }
  return false;
}

std::vector<size_t> Grouping::followers_of(size_t group, size_t count) const {
  std::set<size_t> all{group};
  std::vector<size_t> out;
  int earliest = groups_[group].equations.front();
  for (size_t next = group + 1; next < groups_.size() && out.size() < count; ++next) {
    if (!alive(next)) continue;
    bool reads = false, detour = false;
    for (size_t p : producers_of(next)) {
      reads = reads || all.contains(p);
      detour = detour || (!all.contains(p) && depends_on(p, all, earliest));
    }
    if (!reads || detour) break;
    all.insert(next);
    earliest = std::min(earliest, groups_[next].equations.front());
    out.push_back(next);
  }
  return out;
}

bool Grouping::has_detour(size_t producer, size_t consumer) const {
  const int earliest = groups_[producer].equations.front();
  std::vector<size_t> todo;
  std::set<size_t> seen;
  const auto visit = [&](size_t group) {
    if (groups_[group].equations.back() > earliest && seen.insert(group).second) todo.push_back(group);
  };
  for (size_t p : producers_of(consumer)) {
    if (p != producer) visit(p);
  }
  while (!todo.empty()) {
    const size_t at = todo.back();
    todo.pop_back();
    for (size_t p : producers_of(at)) {
      if (p == producer) return true;
      visit(p);
    }
  }
  return false;
}

std::set<size_t> Grouping::partners_of(size_t consumer) const {
  std::set<size_t> out = producers_of(consumer);
  for (size_t sibling : siblings_of(consumer)) {
    if (sibling < consumer && !producers_of(sibling).contains(consumer) && !has_detour(consumer, sibling))
      out.insert(sibling);
  }
  std::erase_if(out, [&](size_t other) { return has_detour(other, consumer); });
  return out;
}

std::vector<Group> Grouping::ordered() const {
  std::vector<Group> out;
  std::vector<char> placed(groups_.size(), 0);
  for (size_t g = 0; g < groups_.size(); ++g) place(g, placed, out);
  return out;
}

void Grouping::place(size_t group, std::vector<char>& placed, std::vector<Group>& out) const {
  if (placed[group] || !alive(group)) return;
  placed[group] = 1;
  for (size_t producer : producers_of(group)) place(producer, placed, out);
  out.push_back(groups_[group]);
}

bool Grouping::is_order(const std::vector<Group>& groups) const {
  std::set<size_t> done;
  for (const Group& group : groups) {
    const size_t here = owner_of(group.equations.front());
    for (const size_t producer : producers_of(here)) {
      if (!done.contains(producer)) return false;
    }
    done.insert(here);
  }
  return true;
}

std::vector<int> union_of(const Group& a, const Group& b) {
  std::vector<int> out = a.equations;
  out.insert(out.end(), b.equations.begin(), b.equations.end());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace solstice::propose
