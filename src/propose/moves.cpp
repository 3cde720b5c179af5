#include "propose/moves.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace solstice::propose {
namespace {

constexpr double kShorter = 0.995;  // of the time: less is noise

// The axis in which they differ, where it is one.
std::optional<size_t> only_difference(const Choice& a, const Choice& b) {
  std::optional<size_t> out;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (out) return std::nullopt;
    out = i;
  }
  return out;
}

// Options of `axis` that were not tried, in the order of the cost models.
std::vector<size_t> untried(const Axis& axis, const std::set<size_t>& seen) {
  std::vector<size_t> out;
  for (size_t o = 0; o < axis.options.size(); ++o) {
    if (!seen.contains(o)) out.push_back(o);
  }
  return out;
}

// Kernels take turns: each time the one with the most predicted time for its trials so far.
std::vector<Move> fresh_moves(const std::vector<Axis>& axes, const std::vector<std::set<size_t>>& seen) {
  std::vector<std::vector<size_t>> left;
  std::vector<size_t> trials;
  for (size_t a = 0; a < axes.size(); ++a) {
    left.push_back(untried(axes[a], seen[a]));
    trials.push_back(std::max<size_t>(1, seen[a].size()));
  }
  std::vector<Move> out;
  while (true) {
    size_t best = axes.size();
    double most = -1;
    for (size_t a = 0; a < axes.size(); ++a) {
      const double score = axes[a].predicted[0].value / static_cast<double>(trials[a]);
      if (!left[a].empty() && score > most) best = a, most = score;
    }
    if (best == axes.size()) return out;
    out.push_back({best, left[best].front()});
    left[best].erase(left[best].begin());
    ++trials[best];
  }
}

// By how much of the time each option gained that replaced the one that `from` has.
std::vector<Move> repeated_moves(const Choice& from, const std::vector<Tried>& tried) {
  std::map<std::pair<size_t, size_t>, double> gains;
  for (const Tried& t : tried) {
    if (!t.node || !t.node->usable() || !t.parent || !t.parent_time) continue;
    const std::optional<size_t> axis = only_difference(t.choice, *t.parent);
    if (!axis || (*t.parent)[*axis] != from[*axis]) continue;
    const double ratio = t.node->measurement->time / *t.parent_time;
    const auto at = gains.try_emplace({*axis, t.choice[*axis]}, ratio).first;
    at->second = std::min(at->second, ratio);
  }
  std::vector<std::pair<double, Move>> found;
  for (const auto& [what, ratio] : gains) {
    if (ratio < kShorter) found.emplace_back(ratio, Move{what.first, what.second, true});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Move> out;
  for (const auto& [ratio, move] : found) out.push_back(move);
  return out;
}

}  // namespace

std::vector<Move> moves_from(const std::vector<Axis>& axes, const Choice& from, const std::vector<Tried>& tried) {
  std::vector<std::set<size_t>> seen(axes.size());
  for (size_t a = 0; a < axes.size(); ++a) seen[a].insert(from[a]);
  for (const Tried& t : tried) {
    for (size_t a = 0; a < axes.size(); ++a) seen[a].insert(t.choice[a]);
  }
  std::vector<Move> out = fresh_moves(axes, seen);
  for (const Move& move : repeated_moves(from, tried)) out.push_back(move);
  return out;
}

}  // namespace solstice::propose
