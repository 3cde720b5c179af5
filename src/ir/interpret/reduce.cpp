// Reductions and rankings: frames of bound indices, run in chunks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ir/interpret/machine.h"

namespace solstice::ir {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Knuth's exact sum of two: the carry holds what the total has lost.
inline void add(double& total, double& carry, double v) {
  const double sum = total + v;
  const double part = sum - total;
  carry += (total - (sum - part)) + (v - part);
  total = sum;
}

// Adds f(first) .. f(last-1) in four interleaved sums: one alone waits for its own last addition.
template <typename F>
void add_run(int first, int last, F&& f, double& total, double& carry) {
  if (last - first < 16) {
    for (int k = first; k < last; ++k) add(total, carry, f(k));
    return;
  }
  double totals[4] = {}, carries[4] = {};
  int k = first;
  for (; k + 4 <= last; k += 4) {
    for (int lane = 0; lane < 4; ++lane) add(totals[lane], carries[lane], f(k + lane));
  }
  for (; k < last; ++k) add(totals[0], carries[0], f(k));
  for (int lane = 0; lane < 4; ++lane) {
    add(total, carry, totals[lane]);
    carry += carries[lane];
  }
}

double closed(double total, double carry) { return std::isfinite(total) ? total + carry : total; }

int64_t volume(const Frame& f) { return std::accumulate(f.extents.begin(), f.extents.end(), int64_t{1}, std::multiplies<>()); }

}  // namespace

// Lanes for `count` points of the bound indices from `start`, for every wanted lane of the parent.
void Machine::fill(int id, const std::vector<int>& wanted, bool all, int64_t start, int64_t count) {
  State& s = state(id);
  const Frame& f = frame(id);
  const size_t rank = f.extents.size();
  int64_t rest = start;
  for (size_t i = rank; i-- > 0;) {
    s.start[i] = rest % f.extents[i];
    rest /= f.extents[i];
  }
  s.lanes = static_cast<int>(wanted.size()) * static_cast<int>(count);
  s.identity = count == 1 && all;
  s.single_parent = wanted.size() == 1 ? wanted[0] : -1;
  s.regular = count == 1 || (wanted.size() == 1 && s.start[rank - 1] + count <= f.extents[rank - 1]);
  s.moving = count == 1 ? -1 : static_cast<int>(rank) - 1;
  if (!s.identity) {
    int* lane = s.parent_lane.data();
    for (const int w : wanted) lane = std::fill_n(lane, count, w);
  }
  if (s.regular) return;
  for (size_t i = rank, inner = 1; i-- > 0;) {
    int64_t* index = s.index[i].data();
    for (int64_t c = 0; c < count; ++c) index[c] = (start + c) / static_cast<int64_t>(inner) % f.extents[i];
    inner *= static_cast<size_t>(f.extents[i]);
    for (size_t w = 1; w < wanted.size(); ++w) std::copy_n(index, count, index + static_cast<int64_t>(w) * count);
  }
}

// Runs the condition and leaves the lanes where it is true in the body's frame; false if there are none.
bool Machine::keep_true(const Instruction& i) {
  enter(i.where_frame);
  execute(i.where_frame);
  if (failed()) return false;
  const State& w = state(i.where_frame);
  State& b = state(i.body_frame);
  const double* condition = w.data[static_cast<size_t>(i.where)];
  if (i.branch >= 0) note_condition(i.branch, condition, w.lanes);
  int kept = 0;
  for (int l = 0; l < w.lanes; ++l) {
    if (condition[l] == 0) continue;
    b.parent_lane[static_cast<size_t>(kept)] = w.identity ? l : w.parent_lane[static_cast<size_t>(l)];
    b.positions[static_cast<size_t>(kept++)] = l;
  }
  const bool whole = kept == w.lanes;
  b.lanes = kept;
  b.identity = w.identity && whole;
  b.single_parent = kept == 1 ? b.parent_lane[0] : w.single_parent;
  b.regular = w.regular && (whole || w.moving < 0);
  b.moving = w.moving;
  b.start = w.start;
  for (size_t k = 0; k < b.index.size() && !b.regular; ++k) {
    for (int l = 0; l < kept; ++l) {
      b.index[k][static_cast<size_t>(l)] = w.index_at(k, static_cast<int>(b.positions[static_cast<size_t>(l)]));
    }
  }
  return kept > 0;
}

void Machine::wanted_lanes(const Instruction& i, const State& s, std::vector<int>& out) {
  out.clear();
  const double* mask = i.mask >= 0 ? s.data[static_cast<size_t>(i.mask)] : nullptr;
  for (int l = 0; l < s.lanes; ++l) {
    if (!mask || mask[l] != 0) out.push_back(l);
  }
}

// Points of the bound indices run at once, from point `at`: one where the parent's lanes are enough, else what fills the
// block; for a single lane not beyond the end of a long row, so that addresses stay regular.
int64_t Machine::chunk_at(const Frame& body, int64_t at, int64_t lanes) const {
  if (lanes > kLanes / 6) return 1;
  const int64_t left = volume(body) - at;
  const int64_t most = std::min(left, kLanes / lanes);
  const int64_t row = body.extents.back();
  if (lanes > 1 || row < kLanes / 4) return most;
  return std::min(most, row - at % row);
}

template <typename Visit>
void Machine::for_chunks(const Instruction& i, int f, const std::vector<int>& wanted, Visit&& visit) {
  if (wanted.empty()) return;
  const Frame& body = frame(i.body_frame);
  const int64_t points = volume(body);
  const bool all = static_cast<int>(wanted.size()) == state(f).lanes;
  for (int64_t at = 0; at < points && !stopped();) {
    const int64_t count = chunk_at(body, at, static_cast<int64_t>(wanted.size()));
    fill(i.where_frame >= 0 ? i.where_frame : i.body_frame, wanted, all, at, count);
    at += count;
    if (i.where_frame >= 0 && !keep_true(i)) continue;
    enter(i.body_frame);
    execute(i.body_frame);
    if (!failed()) visit();
  }
}

void Machine::accumulate(const Instruction& i, Lanes& lanes, int pass) {
  const State& b = state(i.body_frame);
  const double* v = b.data[static_cast<size_t>(i.body)];
  const auto parent = [&](int l) { return static_cast<size_t>(b.identity ? l : b.parent_lane[static_cast<size_t>(l)]); };
  const auto each = [&](auto&& f) {
    if (b.identity) {
      for (int l = 0; l < b.lanes; ++l) f(static_cast<size_t>(l), v[l]);
    } else {
      for (int l = 0; l < b.lanes; ++l) f(static_cast<size_t>(b.parent_lane[static_cast<size_t>(l)]), v[l]);
    }
  };
  const auto count = [&] { each([&](size_t p, double) { ++lanes.count[p]; }); };
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
      return each([&](size_t p, double x) {
        if (!(lanes.total[p] >= x) && !std::isnan(lanes.total[p])) lanes.total[p] = x;
      });
    case Reducer::kMin:
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

void Machine::reduce(const Instruction& i, int f) {
  State& s = state(f);
  const auto n = static_cast<size_t>(s.lanes);
  Lanes& lanes = lanes_[static_cast<size_t>(i.body_frame)];
  double start = 0;
  if (i.reducer == Reducer::kProd || i.reducer == Reducer::kAll) start = 1;
  if (i.reducer == Reducer::kMax) start = -kInf;
  if (i.reducer == Reducer::kMin) start = kInf;
  lanes.total.assign(n, start);
  lanes.carry.assign(n, 0);
  lanes.extra.assign(n, i.reducer == Reducer::kLogSumExp ? -kInf : 0);
  lanes.count.assign(n, 0);
  const std::vector<int>& wanted = lanes.wanted;
  wanted_lanes(i, s, lanes.wanted);
  for_chunks(i, f, wanted, [&] { accumulate(i, lanes, 0); });
  if (i.reducer == Reducer::kVar) {
    for (size_t l = 0; l < n; ++l) {
      lanes.extra[l] = closed(lanes.total[l], lanes.carry[l]) / static_cast<double>(lanes.count[l]);
      lanes.total[l] = lanes.carry[l] = 0;
    }
  }
  if (i.reducer == Reducer::kVar || i.reducer == Reducer::kLogSumExp) for_chunks(i, f, wanted, [&] { accumulate(i, lanes, 1); });
  if (failed()) return;
  if (i.reducer == Reducer::kArgMax || i.reducer == Reducer::kArgMin) {
    for (const int l : wanted) {
      if (lanes.count[static_cast<size_t>(l)] == 0) return fail_at("the position of an extremum of nothing is wanted");
    }
  }
  finish(i, s, lanes);
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

// The value of an index of `f` or of a frame around it, at a lane of `f`.
int64_t Machine::index_value(int id, int f, int lane) const {
  while (true) {
    const State& s = states_[static_cast<size_t>(f)];
    const Frame& here = frame(f);
    for (size_t k = 0; k < here.indices.size(); ++k) {
      if (here.indices[k] == id) return s.index_at(k, lane);
    }
    if (!s.identity) lane = s.parent_lane[static_cast<size_t>(lane)];
    f = here.parent;
  }
}

void Machine::rank_values(const Instruction& i, int f, int lane, Ranking& ranking) {
  std::vector<double> values;
  for_chunks(i, f, {lane}, [&] {
    const State& b = state(i.body_frame);
    const double* v = b.data[static_cast<size_t>(i.body)];
    values.insert(values.end(), v, v + b.lanes);
  });
  ranking.order.resize(values.size());
  std::iota(ranking.order.begin(), ranking.order.end(), int64_t{0});
  const bool descending = i.reducer == Reducer::kArgTop;
  const auto below = [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; };  // NaN is the largest
  std::stable_sort(ranking.order.begin(), ranking.order.end(), [&](int64_t a, int64_t b) {
    const double x = values[static_cast<size_t>(a)];
    const double y = values[static_cast<size_t>(b)];
    return descending ? below(y, x) : below(x, y);
  });
}

void Machine::rank(const Instruction& i, int f) {
  State& s = state(f);
  double* out = s.own[static_cast<size_t>(i.out)].data();
  const double* wanted_rank = s.data[static_cast<size_t>(i.rank)];
  Ranking& ranking = rankings_[static_cast<size_t>(i.body_frame)];
  std::vector<int> wanted;
  wanted_lanes(i, s, wanted);
  for (const int l : wanted) {
    std::vector<int64_t> key = {1};
    for (const int id : i.key) key.push_back(index_value(id, f, l));
    if (key != ranking.key) {
      rank_values(i, f, l, ranking);
      ranking.key = std::move(key);
      if (failed()) return;
    }
    const double r = wanted_rank[l];
    if (!(r >= 0 && r < static_cast<double>(ranking.order.size()))) return fail_at(fmt::format("there is no rank {}", r));
    out[l] = static_cast<double>(ranking.order[static_cast<size_t>(r)]);
  }
}

}  // namespace solstice::ir
