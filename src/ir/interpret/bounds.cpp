// Reductions whose one index is bounded by its conditions: the points that are left are run, none is tested.
#include <algorithm>

#include "ir/interpret/machine.h"

namespace solstice::ir {
namespace {

constexpr int64_t kLongRange =
    kLanes / 4;  // a lane with so many points is run alone, so that its addresses stay regular

}  // namespace

bool Machine::Lanes::same_bounds(const std::vector<int>& of) const {
  const auto first = static_cast<size_t>(of[0]);
  return std::all_of(of.begin(), of.end(), [&](int l) {
    return low[static_cast<size_t>(l)] == low[first] && high[static_cast<size_t>(l)] == high[first];
  });
}

void Machine::note_range(int branch, int64_t points, int64_t extent) {
  if (branch < 0) return;
  Sides& taken = taken_[static_cast<size_t>(branch)];
  taken = {taken[0] || points > 0, taken[1] || points < extent};
}

// The values of the index at each wanted lane.
void Machine::bound(const Instruction& i, State& s, Lanes& lanes) {
  const int64_t extent = frame(i.body_frame).extents[0];
  lanes.low.assign(static_cast<size_t>(s.lanes), 0);
  lanes.high.assign(static_cast<size_t>(s.lanes), extent);
  for (const Bound& b : i.bounds) {
    const Form rest = resolve(b.rest, s, s.positions.data());
    for (const int l : lanes.wanted) {
      IndexRange range{0, extent - 1};
      range.meet(b.form, rest.at(l));
      note_range(b.branch, std::max<int64_t>(0, range.high - range.low + 1), extent);
      int64_t& low = lanes.low[static_cast<size_t>(l)];
      int64_t& high = lanes.high[static_cast<size_t>(l)];
      low = std::max(low, range.low);
      high = std::max(low, std::min(high, range.high + 1));
    }
  }
  for (const int l : lanes.wanted)
    note_range(i.branch, lanes.high[static_cast<size_t>(l)] - lanes.low[static_cast<size_t>(l)], extent);
}

// The next pairs of a wanted lane and a value of its index, in order; false if there are none left.
bool Machine::fill_pairs(int id, const Lanes& lanes, const std::vector<int>& wanted, Cursor& at) {
  State& s = state(id);
  s.lanes = 0;
  s.identity = true;
  while (at.lane < wanted.size() && s.lanes < kLanes) {
    const int lane = wanted[at.lane];
    const int64_t low = lanes.low[static_cast<size_t>(lane)] + at.done;
    const int64_t left = lanes.high[static_cast<size_t>(lane)] - low;
    if (left >= kLongRange && s.lanes > 0) break;
    const int64_t count = std::min<int64_t>(left, kLanes - s.lanes);
    at.done += count;
    if (count == left) ++at.lane, at.done = 0;
    if (left >= kLongRange) {
      fill(id, {lane}, false, low, count);
      return true;
    }
    for (int64_t k = 0; k < count; ++k) {
      s.identity = s.identity && s.lanes == lane;
      s.index[0][static_cast<size_t>(s.lanes)] = low + k;
      s.parent_lane[static_cast<size_t>(s.lanes++)] = lane;
    }
  }
  if (s.lanes == 0) return false;
  const auto last = static_cast<size_t>(s.lanes) - 1;
  s.identity = s.identity && s.lanes == state(frame(id).parent).lanes;
  s.single_parent = s.parent_lane[0] == s.parent_lane[last] ? s.parent_lane[0] : -1;
  s.regular = false;
  s.moving = 0;
  return true;
}

// Does each lane reduce what the lane before it does, and more?
bool Machine::is_prefixes(const State& s, const Lanes& lanes) {
  const auto n = static_cast<size_t>(s.lanes);
  if (n < 2 || !s.regular || lanes.wanted.size() != n) return false;
  for (size_t l = 1; l < n; ++l) {
    if (lanes.low[l] != lanes.low[0] || lanes.high[l] < lanes.high[l - 1]) return false;
  }
  return true;
}

// One walk over the longest range; the other lanes take what it holds at their ends.
void Machine::accumulate_prefixes(const Instruction& i, Lanes& lanes) {
  State& b = state(i.body_frame);
  const double*& values = b.data[static_cast<size_t>(i.body)];
  const size_t last = lanes.wanted.size() - 1;
  size_t next = 0;
  const auto take = [&](int64_t at) {
    for (; next < last && lanes.high[next] <= at; ++next) {
      lanes.total[next] = lanes.total[last];
      lanes.carry[next] = lanes.carry[last];
      lanes.extra[next] = lanes.extra[last];
      lanes.count[next] = lanes.count[last];
    }
  };
  take(lanes.low[0]);
  for (int64_t at = lanes.low[0]; at < lanes.high[last] && !stopped();) {
    const int64_t end = std::min(at + kLanes, lanes.high[last]);
    fill(i.body_frame, {static_cast<int>(last)}, false, at, end - at);
    enter(i.body_frame);
    execute(i.body_frame);
    if (failed()) return;
    const double* const block = values;
    for (const int64_t begin = at; at < end; take(at)) {
      const int64_t until = std::min(end, lanes.high[next]);
      values = block + (at - begin);
      b.start[0] = at;
      b.lanes = static_cast<int>(until - at);
      accumulate(i, lanes, 0);
      at = until;
    }
    values = block;
  }
}

}  // namespace solstice::ir
