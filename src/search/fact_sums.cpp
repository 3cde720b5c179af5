#include "search/fact_sums.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "search/memory.h"

namespace solstice::search {
namespace {

std::string parts_only_in(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::string out;
  for (const std::string& part : a) {
    if (std::find(b.begin(), b.end(), part) == b.end()) out += (out.empty() ? "" : ", ") + part;
  }
  return out.empty() ? "default" : out;
}

struct Gathered {
  FactSum sum;
  std::set<std::string> structures;
  double gains = 0, squares = 0, beyond = 0;

  void add(const Fact& fact) {
    ++sum.facts;
    structures.insert(fact.structure.form + '\n' + fact.structure.extents);
    sum.last = std::max(sum.last, fact.at);
    if (fact.state != TrialState::kVerified) {
      ++sum.failed;
      return;
    }
    const double gain = own_gain(fact);
    gains += gain;
    beyond += beyond_models(fact);
    squares += gain * gain;
  }

  FactSum done() && {
    const double worked = sum.facts - sum.failed;
    if (worked > 0) sum.gain = gains / worked, sum.beyond = beyond / worked;
    if (worked > 1) sum.spread = std::sqrt(std::max(0.0, (squares - worked * sum.gain * sum.gain) / (worked - 1)));
    sum.structures = static_cast<int>(structures.size());
    return std::move(sum);
  }
};

}  // namespace

std::string move_text(const std::string& from, const std::string& to) {
  const std::vector<std::string> before = parts_of(from), after = parts_of(to);
  if (before[0] != after[0]) return from + " -> " + to;
  return before[0] + ": " + parts_only_in(before, after) + " -> " + parts_only_in(after, before);
}

std::vector<FactSum> sums_of(const std::vector<Fact>& facts) {
  std::map<std::tuple<std::string, std::string, std::string>, Gathered> gathered;
  for (const Fact& fact : facts) {
    const auto key = std::make_tuple(fact.machine, fact.structure.kind, move_text(fact.from, fact.to));
    Gathered& one = gathered[key];
    std::tie(one.sum.machine, one.sum.kind, one.sum.move) = key;
    one.add(fact);
  }
  std::vector<FactSum> out;
  for (auto& [key, one] : gathered) out.push_back(std::move(one).done());
  std::stable_sort(out.begin(), out.end(), [](const FactSum& a, const FactSum& b) { return a.facts > b.facts; });
  return out;
}

}  // namespace solstice::search
