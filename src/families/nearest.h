// The nearest legal values of a clause's knobs: one broken rule after the other is kept by a change of one knob or two,
// the cheapest changes first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace solstice::families {

// A knob as the search walks it: its values, ascending. A step to the next one costs `weight`, the relative distance of
// the values decides between equal steps.
template <class Config>
struct KnobAxis {
  std::vector<int64_t> values;
  int64_t (*get)(const Config&) = nullptr;
  void (*set)(Config&, int64_t) = nullptr;
  int weight = 1;
};

template <class Member>
struct MemberType;
template <class Config_, class Value_>
struct MemberType<Value_ Config_::*> {
  using Config = Config_;
  using Value = Value_;
};

// Axis of a member: knob_axis<&Config::tile_m>({64, 128}).
template <auto kMember>
auto knob_axis(std::vector<int64_t> values, int weight = 1) {
  using Config = typename MemberType<decltype(kMember)>::Config;
  using Value = typename MemberType<decltype(kMember)>::Value;
  return KnobAxis<Config>{std::move(values), [](const Config& c) { return static_cast<int64_t>(c.*kMember); },
                          [](Config& c, int64_t v) { c.*kMember = static_cast<Value>(v); }, weight};
}

template <class Config>
concept HasAxes = requires {
  Config::axes();
};

// Searches the axes from a configuration.
template <class Config>
class NearestSearch {
 public:
  NearestSearch(std::vector<KnobAxis<Config>> axes, const Config& config) : axes_(std::move(axes)), config_(config) {
    for (KnobAxis<Config>& axis : axes_) {
      const auto at = std::lower_bound(axis.values.begin(), axis.values.end(), axis.get(config));
      const auto own =
          at != axis.values.end() && *at == axis.get(config) ? at : axis.values.insert(at, axis.get(config));
      start_.push_back(static_cast<uint8_t>(own - axis.values.begin()));
    }
  }

  // `first_broken(config)`: the number of the first rule that it breaks, rules.size() where it is legal; a rule may ask
  // for what earlier ones guarantee. Nothing where no legal configuration is among those tried.
  template <class Rule, class FirstBroken>
  std::optional<Config> run(const std::vector<Rule>& rules, FirstBroken&& first_broken) {
    constexpr int kMostTried = 2000;
    const auto open = [&](const std::vector<Place>& places) {
      const size_t before = seen_.size();
      for (const Place& place : places) {
        if (!seen_.insert(place).second) continue;
        const size_t kept = first_broken(at(place));
        queue_.push({cost_of(place) + kRule * static_cast<int64_t>(rules.size() - kept), kept, place});
      }
      return seen_.size() > before;
    };
    open({start_});
    for (int tried = 0; !queue_.empty() && tried < kMostTried; ++tried) {
      const auto [cost, kept, place] = queue_.top();
      queue_.pop();
      if (kept == rules.size()) return at(place);
      if (!open(repairs_of(rules[kept], place))) open(paired_repairs_of(rules[kept], place));
    }
    return std::nullopt;
  }

 private:
  using Place = std::vector<uint8_t>;                 // position on each axis
  static constexpr int64_t kStep = 128, kRule = 256;  // cost of a step, and of a rule that is not reached yet

  Config at(const Place& place) const {
    Config out = config_;
    for (size_t k = 0; k < axes_.size(); ++k) axes_[k].set(out, axes_[k].values[place[k]]);
    return out;
  }

  bool moved(Place& place, size_t axis, int step) const {
    const int next = place[axis] + step;
    if (next < 0 || next >= static_cast<int>(axes_[axis].values.size())) return false;
    place[axis] = static_cast<uint8_t>(next);
    return true;
  }

  // The nearest value each way of each knob that alone keeps the rule.
  template <class Rule>
  std::vector<Place> repairs_of(const Rule& rule, const Place& place) const {
    std::vector<Place> out;
    Config config = at(place);
    for (size_t k = 0; k < axes_.size(); ++k) {
      for (const int step : {-1, 1}) {
        Place next = place;
        while (moved(next, k, step)) {
          axes_[k].set(config, axes_[k].values[next[k]]);
          if (rule.broken(config)) continue;
          out.push_back(next);
          break;
        }
      }
      axes_[k].set(config, axes_[k].values[place[k]]);
    }
    return out;
  }

  // If no single knob leads to a legal config: any value of one, and the nearest of another.
  template <class Rule>
  std::vector<Place> paired_repairs_of(const Rule& rule, const Place& place) const {
    std::vector<Place> out;
    for (size_t k = 0; k < axes_.size(); ++k) {
      for (size_t value = 0; value < axes_[k].values.size(); ++value) {
        Place next = place;
        next[k] = static_cast<uint8_t>(value);
        const std::vector<Place> more = repairs_of(rule, next);
        out.insert(out.end(), more.begin(), more.end());
      }
    }
    return out;
  }

  int64_t cost_of(const Place& place) const {
    int64_t out = 0;
    for (size_t k = 0; k < axes_.size(); ++k) {
      const int64_t from = axes_[k].values[start_[k]], apart = std::llabs(axes_[k].values[place[k]] - from);
      const int64_t relative = std::min(kStep - 1, kStep / 4 * apart / std::max<int64_t>(std::llabs(from), 1));
      out += axes_[k].weight * (kStep * std::abs(place[k] - start_[k]) + relative);
    }
    return out;
  }

  std::vector<KnobAxis<Config>> axes_;  // with the configuration's own values
  const Config& config_;
  Place start_;
  std::set<Place> seen_;
  using Open = std::tuple<int64_t, size_t, Place>;  // cost first; the first broken rule
  std::priority_queue<Open, std::vector<Open>, std::greater<>> queue_;
};

}  // namespace solstice::families
