// Reductions and rankings: frames of bound indices, run in chunks.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "ir/interpret/machine.h"

namespace solstice::ir {
namespace {

int64_t volume(const Frame& f) {
  return std::accumulate(f.extents.begin(), f.extents.end(), int64_t{1}, std::multiplies<>());
}

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

// Points of the bound indices run at once, from point `at`: one where the parent's lanes are enough, else what fills
// the block; for a single lane not beyond the end of a long row, so that addresses stay regular.
int64_t Machine::chunk_at(const Frame& body, int64_t at, int64_t end, int64_t lanes) {
  if (lanes > kLanes / 6) return 1;
  const int64_t most = std::min(end - at, kLanes / lanes);
  const int64_t row = body.extents.back();
  if (lanes > 1 || row < kLanes / 4) return most;
  return std::min(most, row - at % row);
}

template <typename Visit>
void Machine::for_chunks(const Instruction& i, int f, const std::vector<int>& wanted, Visit&& visit) {
  if (wanted.empty()) return;
  const Frame& body = frame(i.body_frame);
  if (body.by_rows && wanted.size() > 1) {
    for (const int l : wanted) for_chunks(i, f, {l}, visit);
    return;
  }
  const Lanes& lanes = lanes_[static_cast<size_t>(i.body_frame)];
  if (i.bounded && !lanes.same_bounds(wanted)) {
    for (Cursor at; !stopped() && fill_pairs(i.body_frame, lanes, wanted, at);) {
      enter(i.body_frame);
      execute(i.body_frame);
      if (!failed()) visit();
    }
    return;
  }
  const bool all = static_cast<int>(wanted.size()) == state(f).lanes;
  const auto first = static_cast<size_t>(wanted[0]);
  const int64_t end = i.bounded ? lanes.high[first] : volume(body);
  for (int64_t at = i.bounded ? lanes.low[first] : 0; at < end && !stopped();) {
    const int64_t count = chunk_at(body, at, end, static_cast<int64_t>(wanted.size()));
    fill(i.where_frame >= 0 ? i.where_frame : i.body_frame, wanted, all, at, count);
    at += count;
    if (i.where_frame >= 0 && !keep_true(i)) continue;
    enter(i.body_frame);
    execute(i.body_frame);
    if (!failed()) visit();
  }
}

void Machine::reduce(const Instruction& i, int f) {
  State& s = state(f);
  Lanes& lanes = lanes_[static_cast<size_t>(i.body_frame)];
  start(i, lanes, static_cast<size_t>(s.lanes));
  const std::vector<int>& wanted = lanes.wanted;
  wanted_lanes(i, s, lanes.wanted);
  if (i.bounded) bound(i, s, lanes);
  if (i.one_body && is_prefixes(s, lanes)) {
    accumulate_prefixes(i, lanes);
  } else {
    for_chunks(i, f, wanted, [&] { accumulate(i, lanes, 0); });
  }
  if (i.reducer == Reducer::kVar) centre(lanes);
  if (i.reducer == Reducer::kVar || i.reducer == Reducer::kLogSumExp)
    for_chunks(i, f, wanted, [&] { accumulate(i, lanes, 1); });
  if (failed()) return;
  if (i.reducer == Reducer::kArgMax || i.reducer == Reducer::kArgMin) {
    for (const int l : wanted) {
      if (lanes.count[static_cast<size_t>(l)] == 0) return fail_at("the position of an extremum of nothing is wanted");
    }
  }
  finish(i, s, lanes);
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
    if (!(r >= 0 && r < static_cast<double>(ranking.order.size())))
      return fail_at(fmt::format("there is no rank {}", r));
    out[l] = static_cast<double>(ranking.order[static_cast<size_t>(r)]);
  }
}

}  // namespace solstice::ir
