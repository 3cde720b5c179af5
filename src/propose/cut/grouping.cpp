#include "propose/cut/grouping.h"

#include <algorithm>

namespace solstice::propose {

Grouping::Grouping(const ir::Program& program, const Dataflow& flow)
    : program_(program), flow_(flow), owner_(program.equations.size()) {}

void Grouping::put(size_t at, Group group) {
  for (int e : group.equations) owner_[static_cast<size_t>(e)] = at;
  groups_.resize(std::max(groups_.size(), at + 1));
  groups_[at] = std::move(group);
}

std::set<size_t> Grouping::producers_of(size_t group) const {
  std::set<size_t> out;
  for (int e : groups_[group].equations) {
    for (int tensor : flow_.reads[static_cast<size_t>(e)]) {
      for (int writer : flow_.writers[static_cast<size_t>(tensor)]) out.insert(owner_of(writer));
    }
  }
  out.erase(group);
  return out;
}

// The largest tensor that a group reads from outside; -1 if none.
int Grouping::mainly_read(size_t group) const {
  int out = -1;
  for (int e : groups_[group].equations) {
    for (int tensor : flow_.reads[static_cast<size_t>(e)]) {
      const auto& writers = flow_.writers[static_cast<size_t>(tensor)];
      const bool own = std::any_of(writers.begin(), writers.end(), [&](int w) { return owner_of(w) == group; });
      if (!own && (out < 0 || program_.tensor(tensor).elements() > program_.tensor(out).elements())) out = tensor;
    }
  }
  return out;
}

std::set<size_t> Grouping::siblings_of(size_t group) const {
  std::set<size_t> out;
  const int tensor = mainly_read(group);
  if (tensor < 0) return out;
  for (int reader : flow_.readers[static_cast<size_t>(tensor)]) {
    const size_t other = owner_of(reader);
    if (other != group && mainly_read(other) == tensor) out.insert(other);
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
