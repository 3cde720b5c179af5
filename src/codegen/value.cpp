#include "codegen/value.h"

namespace solstice::codegen {

Value real_constant(double value) { return {CType::kF32, literal(value, CType::kF32), 0, {}, value}; }

Value integer_constant(int64_t value) {
  const Interval range = Interval::point(value);
  const CType type = range.fits_int() ? CType::kI32 : CType::kI64;
  return {type, literal(value, type), 0, range, std::nullopt};
}

std::optional<double> constant_of(const Value& v) {
  if (v.constant) return v.constant;
  if (!is_real(v.type) && v.range.lo == v.range.hi) return static_cast<double>(v.range.lo);
  return std::nullopt;
}

CType common_type(const Value& a, const Value& b) {
  if (is_real(a.type) || is_real(b.type)) {
    const bool twice = (a.type == CType::kF64 && !a.constant) || (b.type == CType::kF64 && !b.constant);
    return twice ? CType::kF64 : CType::kF32;
  }
  return a.range.fits_int() && b.range.fits_int() ? CType::kI32 : CType::kI64;
}

}  // namespace solstice::codegen
