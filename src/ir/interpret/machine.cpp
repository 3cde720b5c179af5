#include "ir/interpret/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/interpret/arithmetic.h"
#include "ir/interpret/exact.h"
#include "ir/interpret/rounding.h"

namespace solstice::ir {
namespace {

constexpr int kShortestRow = 40;  // lanes; shorter rows are run several at once, at the price of addresses by lane

// An integer of 64 bits, maybe one that a double does not hold.
bool is_counted(double v) { return std::abs(v) <= 9223372036854775808.0; }

bool is_literal(Op op) { return op == Op::kReal || op == Op::kInt || op == Op::kBool; }

// In their last digits, as doubles.
bool may_be_equal(double a, double b) {
  return std::abs(a - b) <= 4 * std::numeric_limits<double>::epsilon() * std::max(std::abs(a), std::abs(b));
}

}  // namespace

void Storage::Entry::limit(const Tensor& t) {
  if (t.value == ValueKind::kReal) return;
  const IntegerRange range = integer_range(t.dtype.value_or(t.value == ValueKind::kBool ? DType::kBool : DType::kI64));
  whole = true, low = range.low, high = range.high;
}

Machine::Machine(const Program& program, const Routine& code, const Storage& storage,
                 const std::optional<Deadline>& deadline)
    : program_(program), code_(code), storage_(storage), deadline_(deadline) {
  states_.resize(code.frames.size());
  lanes_.resize(code.frames.size());
  rankings_.resize(code.frames.size());
  taken_.resize(code.branches.size());
  for (size_t f = 0; f < states_.size(); ++f) {
    const Frame& frame = code.frames[f];
    State& s = states_[f];
    s.start.resize(frame.indices.size());
    s.index.assign(frame.indices.size(), std::vector<int64_t>(kLanes));
    s.own.assign(static_cast<size_t>(frame.registers), {});
    s.own_integers.assign(static_cast<size_t>(frame.integer_registers), {});
    s.integers.assign(static_cast<size_t>(frame.integer_registers), {});
    s.scratch.resize(kLanes);
    s.positions.resize(kLanes);
    s.parent_lane.resize(kLanes);
    for (auto& r : s.own) r.resize(kLanes);
    for (auto& r : s.own) s.data.push_back(r.data());
    for (auto& r : s.own_integers) r.resize(kLanes);
    for (const Instruction& i : frame.code) {
      if (is_literal(i.op)) std::fill_n(s.own[static_cast<size_t>(i.out)].data(), kLanes, i.literal);
    }
  }
  if (code.carry) running_.resize(kLanes);
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

bool Machine::stopped() {
  if (failed()) return true;
  if (storage_.meter && storage_.meter->passed()) {
    error_ = fail(Code::too_large, fmt::format("interpreting `{}` needs too many operations", code_.text));
  } else if (deadline_ && (++ticks_ & 1023) == 0 && deadline_->passed()) {
    error_ = fail(Code::deadline, fmt::format("interpreting `{}` took too long", code_.text));
  }
  return failed();
}

Status Machine::run(int64_t begin, int64_t end, int64_t step) {
  for (Ranking& r : rankings_) r.key.clear();
  for (int64_t at = begin; at < end && !failed();) {
    if (deadline_ && deadline_->passed())
      return fail(Code::deadline, fmt::format("interpreting `{}` took too long", code_.text));
    const int64_t next = std::min(end, at + root_block(at, end));
    fill_root(at, next, step);
    enter(0);
    execute(0);
    if (!failed()) store();
    at = next;
  }
  if (failed()) return *error_;
  return success();
}

Status Machine::evaluate(const std::vector<std::vector<int64_t>>& points, int n, double* out) {
  State& s = states_[0];
  error_.reset();
  for (Ranking& r : rankings_) r.key.clear();
  s.lanes = n;
  s.regular = n == 1;
  s.moving = -1;
  for (size_t k = 0; k < points.size(); ++k) {
    s.start[k] = points[k][0];
    std::copy_n(points[k].data(), n, s.index[k].data());
  }
  enter(0);
  execute(0);
  const double* result = s.data[static_cast<size_t>(code_.result)];
  if (!failed() && fits(result, n)) std::copy_n(result, n, out);
  if (failed()) return *error_;
  return success();
}

// The position of the innermost free index that is not the step: rows run along it.
int Machine::inner() const {
  const int last = static_cast<int>(frame(0).extents.size()) - 1;
  return last >= 0 && last == code_.step_position ? last - 1 : last;
}

// Points from `begin` that are run at once: the rest of a row where rows are long.
int64_t Machine::root_block(int64_t begin, int64_t end) const {
  if (inner() < 0) return kLanes;
  const int64_t row = frame(0).extents[static_cast<size_t>(inner())];
  const int64_t left = row - begin % row;
  if (row < kShortestRow) return kLanes;
  return std::min({left, end - begin, (row + (row + kLanes - 1) / kLanes - 1) / ((row + kLanes - 1) / kLanes)});
}

void Machine::fill_root(int64_t begin, int64_t end, int64_t step) {
  State& s = states_[0];
  const Frame& f = frame(0);
  s.lanes = static_cast<int>(end - begin);
  const size_t rank = f.extents.size();
  int64_t rest = begin;
  for (size_t i = rank; i-- > 0;) {
    if (static_cast<int>(i) == code_.step_position) {
      s.start[i] = step;
      continue;
    }
    s.start[i] = rest % f.extents[i];
    rest /= f.extents[i];
  }
  s.moving = inner();
  const auto moves = static_cast<size_t>(s.moving);
  s.regular = s.lanes == 1 || (s.moving >= 0 && s.start[moves] + s.lanes <= f.extents[moves]);
  if (s.regular) return;
  std::vector<int64_t> at = s.start;
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
  if (f.parent >= 0) {
    const State& p = state(f.parent);
    for (const Import& i : f.imports) {
      const double* from = p.data[static_cast<size_t>(i.from)];
      double* to = s.own[static_cast<size_t>(i.to)].data();
      s.data[static_cast<size_t>(i.to)] = s.identity ? from : to;
      if (s.identity) continue;
      if (s.single_parent >= 0) {
        std::fill(to, to + s.lanes, from[s.single_parent]);
      } else {
        for (int l = 0; l < s.lanes; ++l) to[l] = from[s.parent_lane[static_cast<size_t>(l)]];
      }
    }
    for (const Import& i : f.integer_imports) {
      const Form& from = p.integers[static_cast<size_t>(i.from)];
      Form& form = s.integers[static_cast<size_t>(i.to)];
      if (s.identity || (!from.values && from.step == 0)) {
        form = from;
      } else if (s.single_parent >= 0) {
        form = {from.at(s.single_parent), 0, nullptr};
      } else {
        int64_t* to = s.own_integers[static_cast<size_t>(i.to)].data();
        for (int l = 0; l < s.lanes; ++l) to[l] = from.at(s.parent_lane[static_cast<size_t>(l)]);
        form = {0, 0, to};
      }
    }
  }
  for (const AddressRegister& r : f.addresses) {
    s.integers[static_cast<size_t>(r.out)] = resolve(r.address, s, s.own_integers[static_cast<size_t>(r.out)].data());
  }
}

Machine::Form Machine::resolve(const Address& a, const State& s, int64_t* buffer) {
  Form out;
  if (a.imported >= 0) out = s.integers[static_cast<size_t>(a.imported)];
  out.base += a.constant;
  if (s.regular) {
    for (const auto& [position, c] : a.own) {
      out.base += c * s.start[static_cast<size_t>(position)];
      if (position == s.moving) out.step += c;
    }
    return out;
  }
  if (a.own.empty()) return out;
  if (out.values) {
    for (int l = 0; l < s.lanes; ++l) buffer[l] = out.values[l];
  } else {
    std::fill(buffer, buffer + s.lanes, int64_t{0});
  }
  for (const auto& [position, c] : a.own) {
    const int64_t* index = s.index[static_cast<size_t>(position)].data();
    for (int l = 0; l < s.lanes; ++l) buffer[l] += c * index[l];
  }
  out.values = buffer;
  return out;
}

void Machine::execute(int f) {
  if (storage_.meter) storage_.meter->used += static_cast<int64_t>(frame(f).code.size()) * state(f).lanes;
  for (const Instruction& i : frame(f).code) {
    execute(i, f);
    if (i.inexact && !failed()) check_exact(i, state(f));
    if (failed()) return;
    if (i.branch >= 0) note(i, state(f));
  }
}

void Machine::add_coverage(Coverage& out) const {
  for (size_t b = 0; b < taken_.size(); ++b) out.add(code_.branches[b].text, taken_[b], code_.branches[b].on_large);
}

void Machine::note_condition(int branch, const double* values, int lanes) {
  Sides& taken = taken_[static_cast<size_t>(branch)];
  for (int l = 0; l < lanes && !(taken[0] && taken[1]); ++l) taken[values[l] != 0 ? 0 : 1] = true;
}

// Reads and reductions note their branches themselves.
void Machine::note(const Instruction& i, const State& s) {
  if (i.op == Op::kRead || i.op == Op::kReduce) return;
  const double* a = s.data[static_cast<size_t>(i.args[0])];
  if (i.op == Op::kSelect) return note_condition(i.branch, a, s.lanes);
  if (i.op != Op::kMin && i.op != Op::kMax)
    return note_condition(i.branch, s.data[static_cast<size_t>(i.out)], s.lanes);
  const double* b = s.data[static_cast<size_t>(i.args[1])];
  Sides& taken = taken_[static_cast<size_t>(i.branch)];
  for (int l = 0; l < s.lanes && !(taken[0] && taken[1]); ++l) {
    if (a[l] != b[l]) taken[(a[l] > b[l]) == (i.op == Op::kMax) ? 0 : 1] = true;
  }
}

void Machine::execute(const Instruction& i, int f) {
  State& s = state(f);
  double* out = s.own[static_cast<size_t>(i.out)].data();
  switch (i.op) {
    case Op::kReal:
    case Op::kInt:
    case Op::kBool:
      return;  // filled once
    case Op::kIndex: {
      const auto k = static_cast<size_t>(i.own_index);
      for (int l = 0; l < s.lanes; ++l) out[l] = static_cast<double>(s.index_at(k, l));
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
      if (i.checked && !divides(i, s)) return;
      if (!evaluate_op(i.op, a, b, s.lanes, out))
        fail_at(fmt::format("operation `{}` cannot be evaluated", name_of(i.op)));
    }
  }
}

bool Machine::divides(const Instruction& i, const State& s) {
  const double* divisor = s.data[static_cast<size_t>(i.args[1])];
  const double* mask = i.mask >= 0 ? s.data[static_cast<size_t>(i.mask)] : nullptr;
  for (int l = 0; l < s.lanes; ++l) {
    if (divisor[l] != 0 || (mask && mask[l] == 0)) continue;
    fail_at("a division of integers by 0");
    return false;
  }
  return true;
}

void Machine::fail_inexact() {
  if (error_) return;
  error_ =
      fail(Code::not_yet,
           fmt::format("an integer of `{}` lies beyond 2^53, to where the interpreter counts exactly", code_.text));
}

// Operands of a comparison are exact but for literals, which are rounded: those far apart compare as they should.
void Machine::check_exact(const Instruction& i, const State& s) {
  const double* mask = i.mask >= 0 ? s.data[static_cast<size_t>(i.mask)] : nullptr;
  const bool compares = i.op >= Op::kLt && i.op <= Op::kGt;
  const double* a = i.op == Op::kReduce ? nullptr : s.data[static_cast<size_t>(i.args[0])];
  const double* b = i.op == Op::kReduce ? nullptr : s.data[static_cast<size_t>(i.args[1])];
  const double* out = s.data[static_cast<size_t>(i.out)];
  const auto beyond = [](double v) { return std::abs(v) >= kExactIntegers && std::isfinite(v); };
  for (int l = 0; l < s.lanes; ++l) {
    if (mask && mask[l] == 0) continue;
    const bool left = a && beyond(a[l]), right = b && beyond(b[l]);
    if (compares ? left && right && may_be_equal(a[l], b[l]) : left || right || beyond(out[l])) return fail_inexact();
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
    if (mask && mask[l] == 0) continue;
    return i.dtype == DType::kI64 && is_counted(a[l])
               ? fail_inexact()
               : fail_at(fmt::format("{} does not fit {}", a[l], name_of(i.dtype)));
  }
}

// May the target hold these values?
bool Machine::fits(const double* values, int lanes) {
  const Storage::Entry& target = storage_.tensors[static_cast<size_t>(code_.target)];
  for (int l = 0; target.whole && l < lanes; ++l) {
    if (values[l] >= target.low && values[l] <= target.high) continue;
    const DType dtype = program_.tensor(code_.target).dtype.value_or(DType::kI64);
    if (std::isinf(values[l]) && !program_.tensor(code_.target).dtype) continue;  // an extremum of nothing
    if (dtype == DType::kI64 && is_counted(values[l])) return fail_inexact(), false;
    fail_at(fmt::format("{} does not fit {}", values[l], name_of(dtype)));
    return false;
  }
  return true;
}

void Machine::store() {
  State& s = states_[0];
  double* to = storage_.tensors[static_cast<size_t>(code_.target)].stored;
  const double* from = s.data[static_cast<size_t>(code_.result)];
  if (code_.carry) from = carry_on(from);
  if (!fits(from, s.lanes)) return;
  const Form at = resolve(code_.store, s, s.scratch.data());
  if (at.values) {
    for (int l = 0; l < s.lanes; ++l) to[at.base + at.step * l + at.values[l]] = from[l];
  } else if (at.step == 1) {
    std::copy(from, from + s.lanes, to + at.base);
  } else {
    for (int l = 0; l < s.lanes; ++l) to[at.base + at.step * l] = from[l];
  }
}

}  // namespace solstice::ir
