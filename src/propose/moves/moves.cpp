#include "propose/moves/moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace solstice::propose {
namespace {

const double kSpeaks = std::log2(1 + search::kNoise);

bool same_schedules(const Axis& a, const Axis& b) {
  if (a.predicted != b.predicted || a.options.size() != b.options.size()) return false;
  for (size_t o = 0; o < a.options.size(); ++o) {
    if (a.options[o].text() != b.options[o].text()) return false;
  }
  return true;
}

// A change of the kernels of one group from one option to another.
struct Change {
  size_t group = 0, from = 0, to = 0;
  auto operator<=>(const Change&) const = default;
};

// Nothing where more than that differs.
std::optional<Change> change_between(const Alike& groups, const Choice& before, const Choice& after) {
  std::optional<Change> out;
  for (size_t g = 0; g < groups.size(); ++g) {
    for (const size_t axis : groups[g]) {
      if (before[axis] == after[axis]) continue;
      const Change here{g, before[axis], after[axis]};
      if (out && *out != here) return std::nullopt;
      out = here;
    }
  }
  return out;
}

// By corrected times, where memory has met any.
void order_options(std::vector<size_t>& options, const Axis& axis, const std::vector<double>& worth) {
  if (std::all_of(worth.begin(), worth.end(), [](double w) { return w == 0; })) return;
  std::stable_sort(options.begin(), options.end(),
                   [&](size_t a, size_t b) { return corrected(axis, worth, a) < corrected(axis, worth, b); });
}

// Of a group's kernels together: what they can lose, or where that is not known what the cost models say that they
// take.
Seconds to_lose(const std::vector<Axis>& axes, const std::vector<size_t>& group, const std::vector<Seconds>& headroom) {
  Seconds out;
  for (const size_t axis : group) out += headroom.empty() ? axes[axis].predicted[0] : headroom[axis];
  return out;
}

// Groups take turns: each time the one with the most to lose for its trials so far.
std::vector<Move> fresh_moves(const std::vector<Axis>& axes, const Alike& groups,
                              const std::vector<std::set<size_t>>& seen, const Worth& worth,
                              const std::vector<Seconds>& headroom) {
  std::vector<std::vector<size_t>> left(groups.size());
  std::vector<size_t> trials;
  for (size_t g = 0; g < groups.size(); ++g) {
    for (size_t o = 0; o < axes[groups[g][0]].options.size(); ++o) {
      if (!seen[g].contains(o)) left[g].push_back(o);
    }
    trials.push_back(std::max<size_t>(1, seen[g].size()));
    if (!worth.empty()) order_options(left[g], axes[groups[g][0]], worth[groups[g][0]]);
  }
  std::vector<Move> out;
  while (true) {
    size_t best = groups.size();
    double most = -1;
    for (size_t g = 0; g < groups.size(); ++g) {
      const double score = to_lose(axes, groups[g], headroom).value / static_cast<double>(trials[g]);
      if (!left[g].empty() && score > most) best = g, most = score;
    }
    if (best == groups.size()) return out;
    out.push_back({groups[best], left[best].front()});
    left[best].erase(left[best].begin());
    ++trials[best];
  }
}

// By how much of the time each option gained that replaced the one that `from` has.
std::vector<Move> repeated_moves(const Alike& groups, const Choice& from, const std::vector<Tried>& tried) {
  std::map<Change, double> gains;
  for (const Tried& t : tried) {
    if (!t.node || !t.node->usable() || !t.parent || !t.parent_time) continue;
    const std::optional<Change> change = change_between(groups, *t.parent, t.choice);
    if (!change || change->from != from[groups[change->group][0]]) continue;
    const double ratio = t.node->measurement->time / *t.parent_time;
    const auto at = gains.try_emplace(*change, ratio).first;
    at->second = std::min(at->second, ratio);
  }
  std::vector<std::pair<double, Move>> found;
  for (const auto& [change, ratio] : gains) {
    if (ratio < 1 - search::kNoise) found.emplace_back(ratio, Move{groups[change.group], change.to, true});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Move> out;
  for (auto& [ratio, move] : found) out.push_back(std::move(move));
  return out;
}

// Moves that memory expects to gain go to the front.
void put_gains_first(std::vector<Move>& moves, const std::vector<Axis>& axes, const Choice& from, const Worth& worth) {
  const auto saved = [&](const Move& move) {
    const size_t a = move.axes[0];
    const Seconds now = corrected(axes[a], worth[a], from[a]);
    return now * (1 - std::exp2(-move.expected)) * static_cast<double>(move.axes.size());
  };
  for (Move& move : moves) {
    const size_t a = move.axes[0];
    move.remembered = worth[a][move.option] != 0;
    if (move.remembered) move.expected = expected_gain(axes[a], worth[a], from[a], move.option);
  }
  const auto rest =
      std::stable_partition(moves.begin(), moves.end(), [](const Move& m) { return m.expected > kSpeaks; });
  std::stable_sort(moves.begin(), rest, [&](const Move& a, const Move& b) { return saved(a) > saved(b); });
}

}  // namespace

Seconds corrected(const Axis& axis, const std::vector<double>& worth, size_t option) {
  return axis.predicted[option] * std::exp2(-worth[option]);
}

double expected_gain(const Axis& axis, const std::vector<double>& worth, size_t from, size_t to) {
  return std::log2(corrected(axis, worth, from) / corrected(axis, worth, to));
}

std::string text_of(const std::vector<Axis>& axes, const Move& move) {
  const Axis& first = axes[move.axes[0]];
  const std::string alike = move.axes.size() == 1 ? "" : fmt::format(" and {} alike", move.axes.size() - 1);
  return fmt::format("kernel {}{}: {}", first.kernel, alike, first.options[move.option].text());
}

Choice Move::applied_to(Choice choice) const {
  for (const size_t axis : axes) choice[axis] = option;
  return choice;
}

Alike alike(const std::vector<Axis>& axes) {
  Alike out;
  for (size_t a = 0; a < axes.size(); ++a) {
    const auto group = std::find_if(out.begin(), out.end(),
                                    [&](const std::vector<size_t>& g) { return same_schedules(axes[g[0]], axes[a]); });
    if (group == out.end())
      out.push_back({a});
    else
      group->push_back(a);
  }
  return out;
}

std::vector<Move> fastest_options(const std::vector<Axis>& axes, const Alike& groups, const Choice& from,
                                  const Worth& worth) {
  std::vector<Move> out;
  for (const std::vector<size_t>& group : groups) {
    const size_t a = group[0];
    const auto time = [&](size_t option) {
      return worth.empty() ? axes[a].predicted[option] : corrected(axes[a], worth[a], option);
    };
    size_t best = from[a];
    for (size_t o = 0; o < axes[a].options.size(); ++o) {
      if (time(o) < time(best)) best = o;
    }
    if (time(best) < time(from[a]) * (1 - search::kNoise)) out.push_back({group, best});
  }
  return out;
}

std::vector<Move> moves_from(const std::vector<Axis>& axes, const Alike& groups, const Choice& from,
                             const std::vector<Tried>& tried, const Worth& worth,
                             const std::vector<Seconds>& headroom) {
  std::vector<std::set<size_t>> seen(groups.size());
  const auto see = [&](const Choice& choice) {
    for (size_t g = 0; g < groups.size(); ++g) seen[g].insert(choice[groups[g][0]]);
  };
  see(from);
  for (const Tried& t : tried) {
    const bool one_change =
        !t.parent || change_between(groups, *t.parent, t.choice);  // several at once say nothing of each
    if (one_change) see(t.choice);
  }
  std::vector<Move> out = fresh_moves(axes, groups, seen, worth, headroom);
  if (!worth.empty()) put_gains_first(out, axes, from, worth);
  for (Move& move : repeated_moves(groups, from, tried)) out.push_back(std::move(move));
  return out;
}

}  // namespace solstice::propose
