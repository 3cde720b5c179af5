// ir/integers has linear forms too, for another question: it proves claims, so a quotient that it cannot take apart is
// a variable of its own, and ends of ranges beyond 2^52 are given up. Here a form is written as code and an interval
// chooses a type: there is no form with such a quotient, and ends are exact in all 64 bits.
#include "codegen/linear.h"

#include <algorithm>
#include <map>

#include "base/integer.h"
#include "ir/interpret/rounding.h"

namespace solstice::codegen {
namespace {

Interval clamp(Wide lo, Wide hi) {
  if (lo < INT64_MIN || hi > INT64_MAX) return {};
  return {static_cast<int64_t>(lo), static_cast<int64_t>(hi)};
}

int64_t div_floor(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// Splits c*A + B with 0 <= B < c off a form: the quotient A and the remainder B.
struct Division {
  ir::Affine quotient;
  ir::Affine remainder;
};

std::optional<Division> divide(const Interner& indices, const ir::Affine& form, int64_t divisor) {
  Division out;
  out.quotient.offset = div_floor(form.offset, divisor);
  out.remainder.offset = form.offset - out.quotient.offset * divisor;
  for (const auto& [id, coefficient] : form.terms) {
    const bool divides = coefficient % divisor == 0;
    (divides ? out.quotient : out.remainder).terms.push_back({id, divides ? coefficient / divisor : coefficient});
  }
  if (!interval_of(indices, out.remainder).within(0, divisor - 1)) return std::nullopt;
  return out;
}

std::optional<ir::Affine> product(const std::optional<ir::Affine>& a, const std::optional<ir::Affine>& b) {
  if (!a || !b) return std::nullopt;
  if (a->is_constant()) return scale(*b, a->offset);
  if (b->is_constant()) return scale(*a, b->offset);
  return std::nullopt;
}

std::optional<ir::Affine> quotient(const Interner& indices, const ir::ExprRef& e) {
  const auto form = linear_form(indices, e->args[0]);
  const auto by = linear_form(indices, e->args[1]);
  if (!form || !by || !by->is_constant() || by->offset <= 0) return std::nullopt;
  const auto parts = divide(indices, *form, by->offset);
  if (!parts) return std::nullopt;
  return e->op == ir::Op::kFloorDiv ? parts->quotient : parts->remainder;
}

Interval of_select_like(const Interner& indices, const ir::Program& program, const ir::ExprRef& e) {
  const auto at = [&](size_t i) { return interval_of(indices, program, e->args[i]); };
  switch (e->op) {
    case ir::Op::kSelect:
      return join(at(1), at(2));
    case ir::Op::kMin: {
      const Interval a = at(0), b = at(1);  // once each: they nest
      return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    }
    case ir::Op::kMax: {
      const Interval a = at(0), b = at(1);
      return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    }
    case ir::Op::kRead: {
      const ir::Tensor& tensor = program.tensor(e->id);
      const Interval stored = tensor.dtype ? values_of(*tensor.dtype) : Interval{};
      return e->has_else ? join(stored, interval_of(indices, program, e->args.back())) : stored;
    }
    case ir::Op::kCast:
      return values_of(e->dtype);
    default:
      return {};
  }
}

}  // namespace

Interval operator+(Interval a, Interval b) { return clamp(Wide(a.lo) + b.lo, Wide(a.hi) + b.hi); }
Interval operator-(Interval a, Interval b) { return clamp(Wide(a.lo) - b.hi, Wide(a.hi) - b.lo); }
Interval operator*(Interval a, Interval b) {
  const Wide p[] = {Wide(a.lo) * b.lo, Wide(a.lo) * b.hi, Wide(a.hi) * b.lo, Wide(a.hi) * b.hi};
  return clamp(*std::min_element(p, p + 4), *std::max_element(p, p + 4));
}
Interval join(Interval a, Interval b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }
Interval floor_div(Interval a, Interval b) {
  if (b.lo > 0 && b.lo == b.hi) return {div_floor(a.lo, b.lo), div_floor(a.hi, b.lo)};
  if (b.lo >= 0) return {std::min<int64_t>(a.lo, 0), std::max<int64_t>(a.hi, 0)};
  return join(join(a, Interval::point(0) - a), Interval::point(0));
}
Interval floor_mod(Interval a, Interval b) {
  if (b.lo > 0 && a.within(0, b.lo - 1)) return a;
  return {std::min<int64_t>(b.lo, -1) + 1, std::max<int64_t>(b.hi, 1) - 1};
}

Interval values_of(DType dtype) {
  if (is_float(dtype) || size_of(dtype) == 8) return {};
  const ir::IntegerRange range = ir::integer_range(dtype);  // exact: up to 32 bits in a double
  return {static_cast<int64_t>(range.low), static_cast<int64_t>(range.high)};
}

ir::Affine add(const ir::Affine& a, const ir::Affine& b) {
  std::map<int, int64_t> sum;
  for (const auto& [id, c] : a.terms) sum[id] += c;
  for (const auto& [id, c] : b.terms) sum[id] += c;
  ir::Affine out;
  out.offset = a.offset + b.offset;
  for (const auto& [id, c] : sum) {
    if (c != 0) out.terms.push_back({id, c});
  }
  return out;
}

ir::Affine scale(const ir::Affine& a, int64_t factor) {
  ir::Affine out;
  out.offset = a.offset * factor;
  if (factor == 0) return out;
  for (const auto& [id, c] : a.terms) out.terms.push_back({id, c * factor});
  return out;
}

std::optional<ir::Affine> linear_form(const Interner& indices, const ir::ExprRef& e) {
  const auto arg = [&](size_t i) { return linear_form(indices, e->args[i]); };
  switch (e->op) {
    case ir::Op::kInt:
      return ir::Affine{e->integer, {}};
    case ir::Op::kIndex:
      return ir::Affine{0, {{e->id, 1}}};
    case ir::Op::kNeg:
      if (const auto a = arg(0)) return scale(*a, -1);
      return std::nullopt;
    case ir::Op::kAdd:
    case ir::Op::kSub: {
      const auto a = arg(0), b = arg(1);
      if (!a || !b) return std::nullopt;
      return add(*a, e->op == ir::Op::kSub ? scale(*b, -1) : *b);
    }
    case ir::Op::kMul:
      return product(arg(0), arg(1));
    case ir::Op::kFloorDiv:
    case ir::Op::kMod:
      return quotient(indices, e);
    default:
      return std::nullopt;
  }
}

Interval interval_of(const Interner& indices, const ir::Affine& form) {
  Interval out = Interval::point(form.offset);
  for (const auto& [id, c] : form.terms) {
    out = out + Interval::point(c) * Interval{0, std::max<int64_t>(indices.index(id).extent - 1, 0)};
  }
  return out;
}

Interval interval_of(const Interner& indices, const ir::Program& program, const ir::ExprRef& e) {
  if (e->kind == ir::ValueKind::kReal) return {};
  if (e->kind == ir::ValueKind::kBool) return {0, 1};
  if (const auto form = linear_form(indices, e)) return interval_of(indices, *form);
  const auto at = [&](size_t i) { return interval_of(indices, program, e->args[i]); };
  switch (e->op) {
    case ir::Op::kNeg:
      return Interval::point(0) - at(0);
    case ir::Op::kAdd:
      return at(0) + at(1);
    case ir::Op::kSub:
      return at(0) - at(1);
    case ir::Op::kMul:
      return at(0) * at(1);
    case ir::Op::kFloorDiv:
      return floor_div(at(0), at(1));
    case ir::Op::kMod:
      return floor_mod(at(0), at(1));
    default:
      return of_select_like(indices, program, e);
  }
}

}  // namespace solstice::codegen
