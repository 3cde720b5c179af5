// Reads of tensors: addresses, ranges, elements computed on demand.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ir/interpret/machine.h"

namespace solstice::ir {
namespace {

constexpr double kUnwanted = std::numeric_limits<double>::quiet_NaN();

// Lanes [first, last) at which base + step * lane lies in [0, extent).
std::pair<int64_t, int64_t> lanes_within(int64_t base, int64_t step, int64_t extent, int64_t lanes) {
  if (step == 0)
    return base >= 0 && base < extent ? std::pair<int64_t, int64_t>(0, lanes) : std::pair<int64_t, int64_t>(0, 0);
  if (step < 0) {  // the same lanes reach [0, extent) going up from the mirrored base
    base = extent - 1 - base;
    step = -step;
  }
  const int64_t first = base >= 0 ? 0 : (-base + step - 1) / step;
  const int64_t last = base >= extent ? 0 : (extent - base + step - 1) / step;
  return {std::min(first, lanes), std::min(last, lanes)};
}

}  // namespace

// Lanes [first, last), and of those only the flagged ones if there are flags.
struct Machine::Inside {
  int first = 0;
  int last = 0;
  bool flagged = false;
  bool flags[kLanes];

  bool has(int lane) const { return lane >= first && lane < last && (!flagged || flags[lane]); }
  void flag(int lanes) {
    if (!flagged) std::fill(flags, flags + lanes, true);
    flagged = true;
  }
};

Machine::Inside Machine::inside_of(const Instruction& i, State& s) const {
  Inside out;
  out.last = s.lanes;
  for (const BoundCheck& c : i.checks) {
    if (c.value >= 0) {
      const double* v = s.data[static_cast<size_t>(c.value)];
      out.flag(s.lanes);
      for (int l = 0; l < s.lanes; ++l)
        out.flags[l] = out.flags[l] && v[l] >= 0 && v[l] < static_cast<double>(c.extent);
      continue;
    }
    const Form at = resolve(c.address, s, s.positions.data());
    if (!at.values) {
      const auto [first, last] = lanes_within(at.base, at.step, c.extent, s.lanes);
      out.first = std::max(out.first, static_cast<int>(first));
      out.last = std::min(out.last, static_cast<int>(last));
      continue;
    }
    out.flag(s.lanes);
    for (int l = 0; l < s.lanes; ++l) {
      const int64_t index = at.base + at.step * l + at.values[l];
      out.flags[l] = out.flags[l] && index >= 0 && index < c.extent;
    }
  }
  out.last = std::max(out.first, out.last);
  return out;
}

// Lanes [first, last) of a read into `out`.
void Machine::load(int tensor, const Form& at, int first, int last, double* out, State& s) {
  const double* data = storage_.tensors[static_cast<size_t>(tensor)].values;
  if (!data) {
    int64_t* where = s.positions.data();
    for (int l = first; l < last; ++l) where[l - first] = at.at(l);
    const Status fetched = storage_.source->fetch(tensor, where, last - first, out + first);
    if (!fetched.ok() && !error_) error_ = fetched.error();
    return;
  }
  if (at.values) {
    for (int l = first; l < last; ++l) out[l] = data[at.base + at.step * l + at.values[l]];
  } else if (at.step == 0) {
    std::fill(out + first, out + last, data[at.base]);
  } else {
    for (int l = first; l < last; ++l) out[l] = data[at.base + at.step * l];
  }
}

// All lanes: consecutive elements are read where they lie.
const double* Machine::load_all(int tensor, const Form& at, double* out, State& s) {
  const double* data = storage_.tensors[static_cast<size_t>(tensor)].values;
  if (data && !at.values && at.step == 1) return data + at.base;
  load(tensor, at, 0, s.lanes, out, s);
  return out;
}

void Machine::read(const Instruction& i, State& s) {
  double* out = s.own[static_cast<size_t>(i.out)].data();
  const double*& result = s.data[static_cast<size_t>(i.out)];
  Form at = resolve(i.address, s, s.scratch.data());
  if (i.checks.empty() && i.gathered.empty()) {
    result = load_all(i.tensor, at, out, s);
    return;
  }
  result = out;
  const Inside inside = inside_of(i, s);
  if (i.branch >= 0) {
    Sides& taken = taken_[static_cast<size_t>(i.branch)];
    for (int l = 0; l < s.lanes && !(taken[0] && taken[1]); ++l) taken[inside.has(l) ? 0 : 1] = true;
  }
  const bool all = !inside.flagged && inside.first == 0 && inside.last == s.lanes;
  if (all && i.gathered.empty()) {
    result = load_all(i.tensor, at, out, s);
    return;
  }
  if (!i.gathered.empty()) {
    int64_t* where = s.scratch.data();
    for (int l = 0; l < s.lanes; ++l) where[l] = at.at(l);
    for (const Gathered& g : i.gathered) {
      const double* v = s.data[static_cast<size_t>(g.value)];
      for (int l = 0; l < s.lanes; ++l) where[l] += inside.has(l) ? g.stride * static_cast<int64_t>(v[l]) : 0;
    }
    at = {0, 0, where};
  }
  read_some(i, s, at, inside);
}

void Machine::read_some(const Instruction& i, State& s, const Form& at, const Inside& inside) {
  double* out = s.own[static_cast<size_t>(i.out)].data();
  if (!inside.flagged) {
    if (inside.first < inside.last) load(i.tensor, at, inside.first, inside.last, out, s);
  } else {
    // The lanes that are in range, packed and spread again.
    int64_t* where = s.scratch.data();
    int lanes[kLanes];
    int n = 0;
    for (int l = 0; l < s.lanes; ++l) {
      if (!inside.has(l)) continue;
      lanes[n] = l;
      where[n++] = at.at(l);
    }
    double packed[kLanes];
    if (n > 0) load(i.tensor, {0, 0, where}, 0, n, packed, s);
    for (int k = 0; k < n; ++k) out[lanes[k]] = packed[k];
  }
  const double* mask = i.mask >= 0 ? s.data[static_cast<size_t>(i.mask)] : nullptr;
  const double* otherwise = i.otherwise >= 0 ? s.data[static_cast<size_t>(i.otherwise)] : nullptr;
  for (int l = 0; l < s.lanes; ++l) {
    if (inside.has(l)) continue;
    if (i.has_else) {
      out[l] = otherwise ? otherwise[l] : i.literal;
    } else if (mask && mask[l] == 0) {
      out[l] = kUnwanted;
    } else {
      return fail_at(fmt::format("a read of `{}` is out of range", program_.tensor(i.tensor).name));
    }
  }
}

}  // namespace solstice::ir
