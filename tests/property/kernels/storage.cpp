#include "property/kernels/storage.h"

#include <cmath>
#include <cstring>

#include "ir/interpret/rounding.h"

namespace solstice::random_kernels {
namespace {

// A float format of one or two bytes: a sign, an exponent and a mantissa.
struct Narrow {
  int bytes, mantissa, bias;  // mantissa in bits
  bool infinite;              // the largest exponent is of infinities and NaN; else of the format's one NaN alone

  int exponents() const { return 8 * bytes - 1 - mantissa; }
  int top() const { return (1 << exponents()) - 1; }
  int fraction() const { return (1 << mantissa) - 1; }
};

Narrow narrow_of(DType dtype) {
  if (dtype == DType::kF16) return {2, 10, 15, true};
  if (dtype == DType::kBF16) return {2, 7, 127, true};
  if (dtype == DType::kE5M2) return {1, 2, 15, true};
  return {1, 3, 7, false};
}

// `value` is one of the format's.
uint16_t bits_of(Narrow f, double value) {
  const int sign = std::signbit(value) ? 1 << (8 * f.bytes - 1) : 0;
  const auto with = [&](int exponent, int fraction) {
    return static_cast<uint16_t>(sign | exponent << f.mantissa | fraction);
  };
  if (std::isnan(value) || (std::isinf(value) && !f.infinite)) return with(f.top(), f.fraction());
  if (std::isinf(value)) return with(f.top(), 0);
  if (value == 0) return static_cast<uint16_t>(sign);
  const double size = std::abs(value);
  const int exponent = std::max(std::ilogb(size), 1 - f.bias);
  const auto steps = static_cast<int>(std::ldexp(size, f.mantissa - exponent));  // below 2^mantissa: subnormal
  return static_cast<uint16_t>(sign | (((exponent + f.bias - 1) << f.mantissa) + steps));
}

double value_of(Narrow f, uint16_t bits) {
  const int exponent = bits >> f.mantissa & f.top(), fraction = bits & f.fraction();
  const double sign = bits >> (8 * f.bytes - 1) & 1 ? -1 : 1;
  if (exponent == f.top() && (f.infinite ? fraction != 0 : fraction == f.fraction())) return std::nan("");
  if (exponent == f.top() && f.infinite) return sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - f.bias - f.mantissa);
  return sign * std::ldexp(fraction + (1 << f.mantissa), exponent - f.bias - f.mantissa);
}

template <class T>
void put(T value, unsigned char* to) {
  std::memcpy(to, &value, sizeof(T));
}
template <class T>
double get(const unsigned char* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return static_cast<double>(value);
}

}  // namespace

void encode(DType dtype, double value, unsigned char* to) {
  switch (dtype) {
    case DType::kF64:
      return put(value, to);
    case DType::kF32:
      return put(static_cast<float>(value), to);
    case DType::kF16:
    case DType::kBF16:
      return put(bits_of(narrow_of(dtype), ir::rounded(dtype, value)), to);
    case DType::kE4M3:
    case DType::kE5M2:
      return put(static_cast<uint8_t>(bits_of(narrow_of(dtype), ir::rounded(dtype, value))), to);
    case DType::kI64:
      return put(static_cast<int64_t>(value), to);
    case DType::kI32:
      return put(static_cast<int32_t>(value), to);
    case DType::kI16:
      return put(static_cast<int16_t>(value), to);
    case DType::kI8:
      return put(static_cast<int8_t>(value), to);
    default:
      return put(static_cast<uint8_t>(value), to);
  }
}

double decode(DType dtype, const unsigned char* from) {
  uint16_t bits = *from;
  switch (dtype) {
    case DType::kF64:
      return get<double>(from);
    case DType::kF32:
      return get<float>(from);
    case DType::kF16:
    case DType::kBF16:
      std::memcpy(&bits, from, 2);
      return value_of(narrow_of(dtype), bits);
    case DType::kE4M3:
    case DType::kE5M2:
      return value_of(narrow_of(dtype), bits);
    case DType::kI64:
      return get<int64_t>(from);
    case DType::kI32:
      return get<int32_t>(from);
    case DType::kI16:
      return get<int16_t>(from);
    case DType::kI8:
      return get<int8_t>(from);
    default:
      return get<uint8_t>(from);
  }
}

int64_t place_of(const PlanBuffer& buffer, int64_t position) {
  int64_t out = 0;
  for (size_t d = buffer.shape.size(); d-- > 0; position /= buffer.shape[d])
    out += position % buffer.shape[d] * buffer.strides[d];
  return out;
}

std::string packed(const PlanBuffer& buffer, const std::vector<double>& values, unsigned char filler) {
  std::string out(static_cast<size_t>(buffer.bytes), static_cast<char>(filler));
  auto* const bytes = reinterpret_cast<unsigned char*>(out.data());
  for (size_t i = 0; i < values.size(); ++i) {
    encode(buffer.dtype, values[i], bytes + place_of(buffer, static_cast<int64_t>(i)) * size_of(buffer.dtype));
  }
  return out;
}

std::vector<double> unpacked(const PlanBuffer& buffer, const unsigned char* bytes) {
  int64_t elements = 1;
  for (const int64_t e : buffer.shape) elements *= e;
  std::vector<double> out(static_cast<size_t>(elements));
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = decode(buffer.dtype, bytes + place_of(buffer, static_cast<int64_t>(i)) * size_of(buffer.dtype));
  }
  return out;
}

bool gaps_untouched(const PlanBuffer& buffer, const unsigned char* bytes, unsigned char filler) {
  const auto size = static_cast<size_t>(size_of(buffer.dtype));
  std::vector<char> covered(static_cast<size_t>(buffer.bytes) / size, 0);
  int64_t elements = 1;
  for (const int64_t e : buffer.shape) elements *= e;
  for (int64_t i = 0; i < elements; ++i) covered[static_cast<size_t>(place_of(buffer, i))] = 1;
  for (size_t k = 0; k < covered.size() * size; ++k) {
    if (!covered[k / size] && bytes[k] != filler) return false;
  }
  return true;
}

}  // namespace solstice::random_kernels
