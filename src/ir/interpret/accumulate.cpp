// State of reductions for each lane of their parent: totals, extrema, positions.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "ir/interpret/machine.h"

namespace solstice::ir {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Knuth's exact sum of two: the carry holds what the total has lost.
template <typename T>
inline void add(T& total, T& carry, const T& v) {
  const T sum = total + v;
  const T part = sum - total;
  carry += (total - (sum - part)) + (v - part);
  total = sum;
}

// Adds f(first) .. f(last-1), at most kLanes, in interleaved sums: one alone waits for its own last addition.
template <typename F>
void add_run(int first, int last, F&& f, double& total, double& carry) {
  constexpr int kWays = 4;
  using Ways = double __attribute__((vector_size(kWays * sizeof(double))));
  double values[kLanes];
  const int n = last - first;
  for (int k = 0; k < n; ++k) values[k] = f(first + k);
  int k = 0;
  if (n >= 4 * kWays) {
    Ways totals = {}, carries = {}, next;
    for (; k + kWays <= n; k += kWays) {
      std::memcpy(&next, values + k, sizeof next);
      add(totals, carries, next);
    }
    for (int way = 0; way < kWays; ++way) {
      add<double>(total, carry, totals[way]);
      carry += carries[way];
    }
  }
  for (; k < n; ++k) add(total, carry, values[k]);
}

// The extremum of `best` and n values, NaN if one of them is; eight at a time, so that none waits for the one before
// it.
template <typename Better>
void extremum_of(const double* v, int n, Better better, double& best) {
  constexpr int kWays = 8;
  double ways[kWays];
  std::fill_n(ways, kWays, best);
  bool nan = std::isnan(best);
  int l = 0;
  for (; l + kWays <= n; l += kWays) {
    for (int k = 0; k < kWays; ++k) ways[k] = better(v[l + k], ways[k]) ? v[l + k] : ways[k];
  }
  for (; l < n; ++l) ways[0] = better(v[l], ways[0]) ? v[l] : ways[0];
  for (int k = 0; k < n; ++k) nan |= v[k] != v[k];
  for (const double way : ways) best = better(way, best) ? way : best;
  if (nan) best = kNan;
}

double closed(double total, double carry) { return std::isfinite(total) ? total + carry : total; }

}  // namespace

void Machine::start(const Instruction& i, Lanes& lanes, size_t n) {
  double first = 0;
  if (i.reducer == Reducer::kProd || i.reducer == Reducer::kAll) first = 1;
  if (i.reducer == Reducer::kMax) first = -kInf;
  if (i.reducer == Reducer::kMin) first = kInf;
  lanes.total.assign(n, first);
  lanes.carry.assign(n, 0);
  lanes.extra.assign(n, i.reducer == Reducer::kLogSumExp ? -kInf : 0);
  lanes.count.assign(n, 0);
}

// Goes from the sums of a variance's first pass to its second.
void Machine::centre(Lanes& lanes) {
  for (size_t l = 0; l < lanes.total.size(); ++l) {
    lanes.extra[l] = closed(lanes.total[l], lanes.carry[l]) / static_cast<double>(lanes.count[l]);
    lanes.total[l] = lanes.carry[l] = 0;
  }
}

void Machine::accumulate(const Instruction& i, Lanes& lanes, int pass) {
  const State& b = state(i.body_frame);
  const double* v = b.data[static_cast<size_t>(i.body)];
  const auto parent = [&](int l) {
    return static_cast<size_t>(b.identity ? l : b.parent_lane[static_cast<size_t>(l)]);
  };
  const auto each = [&](auto&& f) {
    if (b.identity) {
      for (int l = 0; l < b.lanes; ++l) f(static_cast<size_t>(l), v[l]);
    } else {
      for (int l = 0; l < b.lanes; ++l) f(static_cast<size_t>(b.parent_lane[static_cast<size_t>(l)]), v[l]);
    }
  };
  const bool alone = !b.identity && b.single_parent >= 0;  // all lanes belong to one of the parent
  const auto count = [&] {
    if (alone) return void(lanes.count[static_cast<size_t>(b.single_parent)] += b.lanes);
    each([&](size_t p, double) { ++lanes.count[p]; });
  };
  // Sums of f(p, v): lane by lane, or the lanes of one parent together.
  const auto sum = [&](auto&& f) {
    double* total = lanes.total.data();
    double* carry = lanes.carry.data();
    if (b.identity) {
      for (int l = 0; l < b.lanes; ++l) add(total[l], carry[l], f(static_cast<size_t>(l), v[l]));
      return;
    }
    for (int l = 0; l < b.lanes;) {
      const size_t p = parent(l);
      const int first = l;
      if (alone) l = b.lanes;
      while (l < b.lanes && parent(l) == p) ++l;
      add_run(
          first, l, [&](int k) { return f(p, v[k]); }, total[p], carry[p]);
    }
  };
  switch (i.reducer) {
    case Reducer::kSum:
      return sum([](size_t, double x) { return x; });
    case Reducer::kMean:
      count();
      return sum([](size_t, double x) { return x; });
    case Reducer::kVar:
      if (pass == 0) {
        count();
        return sum([](size_t, double x) { return x; });
      }
      return sum([&](size_t p, double x) { return (x - lanes.extra[p]) * (x - lanes.extra[p]); });
    case Reducer::kLogSumExp:
      if (pass == 0)
        return each([&](size_t p, double x) {
          if (!(lanes.extra[p] >= x)) lanes.extra[p] = std::isnan(lanes.extra[p]) ? kNan : x;
        });
      return sum([&](size_t p, double x) { return std::exp(x - lanes.extra[p]); });
    case Reducer::kProd:
      return each([&](size_t p, double x) { lanes.total[p] *= x; });
    case Reducer::kMax:
      if (alone) return extremum_of(v, b.lanes, std::greater<>(), lanes.total[static_cast<size_t>(b.single_parent)]);
      return each([&](size_t p, double x) {
        if (!(lanes.total[p] >= x) && !std::isnan(lanes.total[p])) lanes.total[p] = x;
      });
    case Reducer::kMin:
      if (alone) return extremum_of(v, b.lanes, std::less<>(), lanes.total[static_cast<size_t>(b.single_parent)]);
      return each([&](size_t p, double x) {
        if (!(lanes.total[p] <= x) && !std::isnan(lanes.total[p])) lanes.total[p] = x;
      });
    case Reducer::kAny:
      return each([&](size_t p, double x) {
        if (x != 0) lanes.total[p] = 1;
      });
    case Reducer::kAll:
      return each([&](size_t p, double x) {
        if (x == 0) lanes.total[p] = 0;
      });
    default:
      return position(i, lanes);
  }
}

// argmax and argmin: the first extremum, the first NaN before any.
void Machine::position(const Instruction& i, Lanes& lanes) {
  const State& b = state(i.body_frame);
  const double* v = b.data[static_cast<size_t>(i.body)];
  for (int l = 0; l < b.lanes; ++l) {
    const auto p = static_cast<size_t>(b.identity ? l : b.parent_lane[static_cast<size_t>(l)]);
    const bool better = i.reducer == Reducer::kArgMax ? v[l] > lanes.extra[p] : v[l] < lanes.extra[p];
    const bool first = lanes.count[p] == 0;
    const bool nan = std::isnan(v[l]) && !std::isnan(lanes.extra[p]);
    ++lanes.count[p];
    if (!first && !nan && (std::isnan(lanes.extra[p]) || !better)) continue;
    lanes.extra[p] = v[l];
    lanes.total[p] = static_cast<double>(b.index_at(0, l));
  }
}

void Machine::finish(const Instruction& i, State& s, const Lanes& lanes) {
  double* out = s.own[static_cast<size_t>(i.out)].data();
  for (size_t l = 0; l < static_cast<size_t>(s.lanes); ++l) {
    const double total = closed(lanes.total[l], lanes.carry[l]);
    switch (i.reducer) {
      case Reducer::kSum:
        out[l] = total;
        break;
      case Reducer::kMean:
      case Reducer::kVar:
        out[l] = total / static_cast<double>(lanes.count[l]);
        break;
      case Reducer::kLogSumExp:
        out[l] = std::isfinite(lanes.extra[l]) ? lanes.extra[l] + std::log(total) : lanes.extra[l];
        break;
      default:
        out[l] = lanes.total[l];
    }
  }
}

}  // namespace solstice::ir
