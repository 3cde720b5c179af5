#include "ir/interpret/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ir/interpret/arithmetic.h"
#include "ir/interpret/rounding.h"

namespace solstice::ir {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Machine::Machine(const Program& program, const Routine& code, const Storage& storage, const std::optional<Deadline>& deadline)
    : program_(program), code_(code), storage_(storage), deadline_(deadline) {
  states_.resize(code.frames.size());
  rankings_.resize(code.frames.size());
  for (size_t f = 0; f < states_.size(); ++f) {
    const Frame& frame = code.frames[f];
    State& s = states_[f];
    s.index.assign(frame.indices.size(), std::vector<int64_t>(kLanes));
    s.own.assign(static_cast<size_t>(frame.registers), {});
    s.data.assign(static_cast<size_t>(frame.registers), nullptr);
    s.own_integers.assign(static_cast<size_t>(frame.integer_registers), {});
    s.integers.assign(static_cast<size_t>(frame.integer_registers), nullptr);
    s.scratch.resize(kLanes);
    s.parent_lane.resize(kLanes);
    for (auto& r : s.own) r.resize(kLanes);
    for (auto& r : s.own_integers) r.resize(kLanes);
  }
}

int64_t Machine::points(const Routine& code) {
  int64_t n = 1;
  for (size_t i = 0; i < code.frames[0].extents.size(); ++i) {
    if (static_cast<int>(i) != code.step_position) n *= code.frames[0].extents[i];
  }
  return n;
}

void Machine::fail_at(std::string message) {
  if (!error_) error_ = fail(Code::program_invalid, fmt::format("{} in `{}`", message, code_.text));
}

Status Machine::run(int64_t begin, int64_t end, int64_t step) {
  for (Ranking& r : rankings_) r.key.clear();
  for (int64_t at = begin; at < end && !failed(); at += kLanes) {
    if (deadline_ && deadline_->passed()) return fail(Code::deadline, fmt::format("interpreting `{}` took too long", code_.text));
    fill_root(at, std::min<int64_t>(end, at + kLanes), step);
    enter(0);
    execute(0);
    if (!failed()) store();
  }
  if (failed()) return *error_;
  return success();
}

void Machine::fill_root(int64_t begin, int64_t end, int64_t step) {
  State& s = states_[0];
  const Frame& f = frame(0);
  s.lanes = static_cast<int>(end - begin);
  const size_t rank = f.extents.size();
  std::vector<int64_t> at(rank, 0);
  int64_t rest = begin;
  for (size_t i = rank; i-- > 0;) {
    if (static_cast<int>(i) == code_.step_position) {
      at[i] = step;
      continue;
    }
    at[i] = rest % f.extents[i];
    rest /= f.extents[i];
  }
  for (int l = 0; l < s.lanes; ++l) {
    for (size_t i = 0; i < rank; ++i) s.index[i][static_cast<size_t>(l)] = at[i];
    for (size_t i = rank; i-- > 0;) {
      if (static_cast<int>(i) == code_.step_position) continue;
      if (++at[i] < f.extents[i]) break;
      at[i] = 0;
    }
  }
}

// Brings the parent's values into reach and computes the frame's addresses.
void Machine::enter(int id) {
  State& s = state(id);
  const Frame& f = frame(id);
  for (size_t r = 0; r < s.own.size(); ++r) s.data[r] = s.own[r].data();
  for (size_t r = 0; r < s.own_integers.size(); ++r) s.integers[r] = s.own_integers[r].data();
  if (f.parent >= 0) {
    const State& p = state(f.parent);
    for (const Import& i : f.imports) {
      const double* from = p.data[static_cast<size_t>(i.from)];
      double* to = s.own[static_cast<size_t>(i.to)].data();
      if (s.identity) {
        s.data[static_cast<size_t>(i.to)] = from;
      } else {
        for (int l = 0; l < s.lanes; ++l) to[l] = from[s.parent_lane[static_cast<size_t>(l)]];
      }
    }
    for (const Import& i : f.integer_imports) {
      const int64_t* from = p.integers[static_cast<size_t>(i.from)];
      int64_t* to = s.own_integers[static_cast<size_t>(i.to)].data();
      if (s.identity) {
        s.integers[static_cast<size_t>(i.to)] = from;
      } else {
        for (int l = 0; l < s.lanes; ++l) to[l] = from[s.parent_lane[static_cast<size_t>(l)]];
      }
    }
  }
  for (const AddressRegister& r : f.addresses) resolve(r.address, s, s.own_integers[static_cast<size_t>(r.out)].data());
}

void Machine::resolve(const Address& a, const State& s, int64_t* out) const {
  int64_t base = a.constant;
  if (s.uniform) {
    for (const auto& [position, c] : a.own) base += c * s.index[static_cast<size_t>(position)][0];
  }
  if (a.imported >= 0) {
    const int64_t* from = s.integers[static_cast<size_t>(a.imported)];
    for (int l = 0; l < s.lanes; ++l) out[l] = from[l] + base;
  } else {
    std::fill(out, out + s.lanes, base);
  }
  if (s.uniform) return;
  for (const auto& [position, c] : a.own) {
    const int64_t* index = s.index[static_cast<size_t>(position)].data();
    for (int l = 0; l < s.lanes; ++l) out[l] += c * index[l];
  }
}

void Machine::execute(int f) {
  for (const Instruction& i : frame(f).code) {
    execute(i, f);
    if (failed()) return;
  }
}

void Machine::execute(const Instruction& i, int f) {
  State& s = state(f);
  double* out = s.own[static_cast<size_t>(i.out)].data();
  switch (i.op) {
    case Op::kReal:
    case Op::kInt:
    case Op::kBool:
      std::fill(out, out + s.lanes, i.literal);
      return;
    case Op::kIndex: {
      const auto& index = s.index[static_cast<size_t>(i.own_index)];
      for (int l = 0; l < s.lanes; ++l) out[l] = static_cast<double>(index[s.uniform ? 0 : static_cast<size_t>(l)]);
      return;
    }
    case Op::kRead:
      return read(i, s);
    case Op::kReduce:
      return reduce(i, f);
    case Op::kRank:
      return rank(i, f);
    case Op::kCast:
      return cast(i, s);
    case Op::kSelect: {
      const double* c = s.data[static_cast<size_t>(i.args[0])];
      const double* a = s.data[static_cast<size_t>(i.args[1])];
      const double* b = s.data[static_cast<size_t>(i.args[2])];
      for (int l = 0; l < s.lanes; ++l) out[l] = c[l] != 0 ? a[l] : b[l];
      return;
    }
    default: {
      const double* a = s.data[static_cast<size_t>(i.args[0])];
      const double* b = i.args.size() > 1 ? s.data[static_cast<size_t>(i.args[1])] : nullptr;
      if (!evaluate(i.op, a, b, s.lanes, out)) fail_at(fmt::format("operation `{}` cannot be evaluated", name_of(i.op)));
    }
  }
}

// The common read inside a reduction: what the parent knows of the address, plus one offset for all lanes.
void Machine::read_plainly(const Instruction& i, State& s, double* out, const double* data) const {
  int64_t base = i.address.constant;
  for (const auto& [position, c] : i.address.own) base += c * s.index[static_cast<size_t>(position)][0];
  if (i.address.imported < 0) {
    std::fill(out, out + s.lanes, data[base]);
    return;
  }
  const int64_t* from = s.integers[static_cast<size_t>(i.address.imported)];
  for (int l = 0; l < s.lanes; ++l) out[l] = data[from[l] + base];
}

void Machine::read(const Instruction& i, State& s) {
  double* out = s.own[static_cast<size_t>(i.out)].data();
  const double* data = storage_.tensors[static_cast<size_t>(i.tensor)].values;
  if (i.checks.empty() && i.gathered.empty() && (s.uniform || i.address.own.empty())) return read_plainly(i, s, out, data);
  int64_t* at = s.scratch.data();
  resolve(i.address, s, at);
  if (i.checks.empty()) {
    for (const Gathered& g : i.gathered) {
      const double* v = s.data[static_cast<size_t>(g.value)];
      for (int l = 0; l < s.lanes; ++l) at[l] += g.stride * static_cast<int64_t>(v[l]);
    }
    for (int l = 0; l < s.lanes; ++l) out[l] = data[at[l]];
    return;
  }
  bool inside[kLanes];
  std::fill(inside, inside + s.lanes, true);
  int64_t index[kLanes];
  for (const BoundCheck& c : i.checks) {
    if (c.value >= 0) {
      const double* v = s.data[static_cast<size_t>(c.value)];
      for (int l = 0; l < s.lanes; ++l) inside[l] = inside[l] && v[l] >= 0 && v[l] < static_cast<double>(c.extent);
    } else {
      resolve(c.address, s, index);
      for (int l = 0; l < s.lanes; ++l) inside[l] = inside[l] && index[l] >= 0 && index[l] < c.extent;
    }
  }
  const double* mask = i.mask >= 0 ? s.data[static_cast<size_t>(i.mask)] : nullptr;
  const double* otherwise = i.otherwise >= 0 ? s.data[static_cast<size_t>(i.otherwise)] : nullptr;
  for (int l = 0; l < s.lanes; ++l) {
    if (inside[l]) {
      int64_t where = at[l];
      for (const Gathered& g : i.gathered) where += g.stride * static_cast<int64_t>(s.data[static_cast<size_t>(g.value)][l]);
      out[l] = data[where];
    } else if (i.has_else) {
      out[l] = otherwise ? otherwise[l] : i.literal;
    } else if (mask && mask[l] == 0) {
      out[l] = kNan;
    } else {
      return fail_at(fmt::format("a read of `{}` is out of range", program_.tensor(i.tensor).name));
    }
  }
}

void Machine::cast(const Instruction& i, State& s) {
  double* out = s.own[static_cast<size_t>(i.out)].data();
  const double* a = s.data[static_cast<size_t>(i.args[0])];
  const double* mask = i.mask >= 0 ? s.data[static_cast<size_t>(i.mask)] : nullptr;
  const IntegerRange range = integer_range(i.dtype);
  const bool whole = !is_float(i.dtype) && i.dtype != DType::kBool;
  for (int l = 0; l < s.lanes; ++l) {
    out[l] = rounded(i.dtype, a[l]);
    if (!whole || (out[l] >= range.low && out[l] <= range.high)) continue;
    if (!mask || mask[l] != 0) return fail_at(fmt::format("{} does not fit {}", a[l], name_of(i.dtype)));
  }
}

void Machine::store() {
  State& s = states_[0];
  const Storage::Entry& target = storage_.tensors[static_cast<size_t>(code_.target)];
  const double* from = s.data[static_cast<size_t>(code_.result)];
  int64_t* at = s.scratch.data();
  resolve(code_.store, s, at);
  for (int l = 0; l < s.lanes; ++l) {
    if (target.whole && !(from[l] >= target.low && from[l] <= target.high)) {
      return fail_at(fmt::format("{} does not fit {}", from[l], name_of(*program_.tensor(code_.target).dtype)));
    }
    target.values[at[l]] = from[l];
  }
}

}  // namespace solstice::ir
