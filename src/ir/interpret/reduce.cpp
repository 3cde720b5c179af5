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

double closed(double total, double carry) { return std::isfinite(total) ? total + carry : total; }

int64_t volume(const Frame& f) { return std::accumulate(f.extents.begin(), f.extents.end(), int64_t{1}, std::multiplies<>()); }

}  // namespace

// Lanes for `count` points of the bound indices from `start`, for every wanted lane of the parent.
void Machine::fill(int id, const std::vector<int>& wanted, bool all, int64_t start, int64_t count) {
  State& s = state(id);
  const Frame& f = frame(id);
  s.uniform = count == 1;
  s.identity = count == 1 && all;
  s.lanes = static_cast<int>(wanted.size()) * static_cast<int>(count);
  int64_t at[kLanes];
  for (size_t i = f.extents.size(), inner = 1; i-- > 0;) {
    for (int64_t c = 0; c < count; ++c) at[c] = (start + c) / static_cast<int64_t>(inner) % f.extents[i];
    inner *= static_cast<size_t>(f.extents[i]);
    int64_t* index = s.index[i].data();
    if (s.uniform) {
      index[0] = at[0];
      continue;
    }
    for (size_t w = 0; w < wanted.size(); ++w) std::copy(at, at + count, index + static_cast<int64_t>(w) * count);
  }
  if (s.identity) return;
  for (size_t l = 0; l < static_cast<size_t>(s.lanes); ++l) s.parent_lane[l] = wanted[l / static_cast<size_t>(count)];
}

// Runs the condition and leaves the lanes where it is true in the body's frame; false if there are none.
bool Machine::keep_true(const Instruction& i) {
  enter(i.where_frame);
  execute(i.where_frame);
  if (failed()) return false;
  const State& w = state(i.where_frame);
  State& b = state(i.body_frame);
  const double* condition = w.data[static_cast<size_t>(i.where)];
  b.uniform = w.uniform;
  b.lanes = 0;
  for (int l = 0; l < w.lanes; ++l) {
    if (condition[l] == 0) continue;
    const auto from = static_cast<size_t>(l);
    const auto to = static_cast<size_t>(b.lanes++);
    b.parent_lane[to] = w.identity ? l : w.parent_lane[from];
    for (size_t k = 0; k < b.index.size() && !b.uniform; ++k) b.index[k][to] = w.index[k][from];
  }
  for (size_t k = 0; k < b.index.size() && b.uniform; ++k) b.index[k][0] = w.index[k][0];
  b.identity = w.identity && b.lanes == w.lanes;
  return b.lanes > 0;
}

std::vector<int> Machine::wanted_lanes(const Instruction& i, const State& s) const {
  std::vector<int> out;
  const double* mask = i.mask >= 0 ? s.data[static_cast<size_t>(i.mask)] : nullptr;
  for (int l = 0; l < s.lanes; ++l) {
    if (!mask || mask[l] != 0) out.push_back(l);
  }
  return out;
}

template <typename Visit>
void Machine::for_chunks(const Instruction& i, int f, const std::vector<int>& wanted, Visit&& visit) {
  if (wanted.empty()) return;
  const int64_t points = volume(frame(i.body_frame));
  const bool all = static_cast<int>(wanted.size()) == state(f).lanes;
  const auto lanes = static_cast<int64_t>(wanted.size());
  const int64_t chunk = lanes * 2 > kLanes ? 1 : std::min(points, kLanes / lanes);
  for (int64_t at = 0; at < points && !failed(); at += chunk) {
    if (deadline_ && (++ticks_ & 4095) == 0 && deadline_->passed()) {
      error_ = fail(Code::deadline, fmt::format("interpreting `{}` took too long", code_.text));
      return;
    }
    const int64_t count = std::min(chunk, points - at);
    fill(i.where_frame >= 0 ? i.where_frame : i.body_frame, wanted, all, at, count);
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
    for (int l = 0; l < b.lanes; ++l) f(parent(l), v[l]);
  };
  if (i.reducer == Reducer::kSum && b.identity) {
    double* total = lanes.total.data();
    double* carry = lanes.carry.data();
    for (int l = 0; l < b.lanes; ++l) add(total[l], carry[l], v[l]);
    return;
  }
  switch (i.reducer) {
    case Reducer::kSum:
      return each([&](size_t p, double x) { add(lanes.total[p], lanes.carry[p], x); });
    case Reducer::kMean:
      return each([&](size_t p, double x) {
        add(lanes.total[p], lanes.carry[p], x);
        ++lanes.count[p];
      });
    case Reducer::kVar:
      if (pass == 0) {
        return each([&](size_t p, double x) {
          add(lanes.total[p], lanes.carry[p], x);
          ++lanes.count[p];
        });
      }
      return each([&](size_t p, double x) { add(lanes.total[p], lanes.carry[p], (x - lanes.extra[p]) * (x - lanes.extra[p])); });
    case Reducer::kLogSumExp:
      if (pass == 0)
        return each([&](size_t p, double x) {
          if (!(lanes.extra[p] >= x)) lanes.extra[p] = std::isnan(lanes.extra[p]) ? kNan : x;
        });
      return each([&](size_t p, double x) { add(lanes.total[p], lanes.carry[p], std::exp(x - lanes.extra[p])); });
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
    lanes.total[p] = static_cast<double>(b.index[0][b.uniform ? 0 : static_cast<size_t>(l)]);
  }
}

void Machine::reduce(const Instruction& i, int f) {
  State& s = state(f);
  const auto n = static_cast<size_t>(s.lanes);
  Lanes lanes;
  double start = 0;
  if (i.reducer == Reducer::kProd || i.reducer == Reducer::kAll) start = 1;
  if (i.reducer == Reducer::kMax) start = -kInf;
  if (i.reducer == Reducer::kMin) start = kInf;
  lanes.total.assign(n, start);
  lanes.carry.assign(n, 0);
  lanes.extra.assign(n, i.reducer == Reducer::kLogSumExp ? -kInf : 0);
  lanes.count.assign(n, 0);
  const std::vector<int> wanted = wanted_lanes(i, s);
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
      if (here.indices[k] == id) return s.index[k][s.uniform ? 0 : static_cast<size_t>(lane)];
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
  for (const int l : wanted_lanes(i, s)) {
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
