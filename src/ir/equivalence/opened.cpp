#include "ir/equivalence/opened.h"

#include <functional>
#include <map>
#include <string>

namespace solstice::ir {
namespace {

constexpr size_t kMostOpened = 32;

using Reads = std::map<std::string, int>;

class Opener {
 public:
  Opener(const Side& a, const Side& b) : a_(a), b_(b) {}

  // For what one side alone reads, the last in the problem first: a later cut of the other side that it is below of,
  // else itself.
  bool open_one(int target, int other, Opened& out) const {
    const Reads x = a_.reads_below(target, out.a), y = b_.reads_below(other, out.b);
    std::multimap<int, std::string, std::greater<>> single;  // by place
    for (const auto& [name, tensor] : x) {
      if (!y.count(name)) single.emplace(place(name), name);
    }
    for (const auto& [name, tensor] : y) {
      if (!x.count(name)) single.emplace(place(name), name);
    }
    for (const auto& [at, name] : single) {
      const bool first = x.count(name);
      if (const int above = last_above(first ? b_ : a_, first ? y : x, name); above >= 0)
        return (first ? out.b : out.a).insert(above).second;
      if (at >= 0) return (first ? out.a : out.b).insert(first ? x.at(name) : y.at(name)).second;
    }
    return false;
  }

 private:
  // The last cut that a side reads and `name` is below of; -1: none.
  int last_above(const Side& side, const Reads& reads, const std::string& name) const {
    const int below = side.program.find_tensor(name);
    if (below < 0) return -1;
    const std::set<int> above = side.dependents(below);
    int out = -1, last = place(name);
    for (const auto& [each, tensor] : reads) {
      if (place(each) > last && above.count(tensor)) out = tensor, last = place(each);
    }
    return out;
  }

  // The end of the problem's definition of a tensor; of the interface -1.
  int place(const std::string& name) const {
    const int tensor = a_.program.find_tensor(name);
    return a_.shared.count(tensor) ? -1 : a_.pieces_of(tensor).back();
  }

  const Side &a_, &b_;
};

}  // namespace

Opened read_by_one(const Side& a, int target, const Side& b, int other, std::chrono::steady_clock::time_point end) {
  Opener opener(a, b);
  Opened out;
  while (out.a.size() + out.b.size() < kMostOpened && std::chrono::steady_clock::now() < end &&
         opener.open_one(target, other, out)) {
  }
  return out;
}

}  // namespace solstice::ir
