#include "property/kernels/storage.h"

#include <cmath>
#include <cstring>

#include "ir/interpret/rounding.h"

namespace solstice::random_kernels {
namespace {

// Sign, exponent and mantissa of a 16-bit float format.
struct Half {
  int mantissa;  // bits
  int bias;
};
constexpr Half kF16 = {10, 15}, kBF16 = {7, 127};

// `value` is one of the format's.
uint16_t bits_of_half(Half format, double value) {
  const int exponents = 15 - format.mantissa, top = (1 << exponents) - 1;
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const auto with = [&](int exponent, int mantissa) { return static_cast<uint16_t>(sign | exponent << format.mantissa | mantissa); };
  if (std::isnan(value)) return with(top, 1 << (format.mantissa - 1));
  if (std::isinf(value)) return with(top, 0);
  if (value == 0) return sign;
  const double size = std::abs(value);
  const int exponent = std::max(std::ilogb(size), 1 - format.bias);
  const auto steps = static_cast<int>(std::ldexp(size, format.mantissa - exponent));  // below 2^mantissa: subnormal
  return static_cast<uint16_t>(sign | (((exponent + format.bias - 1) << format.mantissa) + steps));
}

double value_of_half(Half format, uint16_t bits) {
  const int exponents = 15 - format.mantissa, top = (1 << exponents) - 1;
  const int exponent = bits >> format.mantissa & top, mantissa = bits & ((1 << format.mantissa) - 1);
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == top) return mantissa ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - format.bias - format.mantissa);
  return sign * std::ldexp(mantissa + (1 << format.mantissa), exponent - format.bias - format.mantissa);
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
      return put(bits_of_half(kF16, ir::rounded(dtype, value)), to);
    case DType::kBF16:
      return put(bits_of_half(kBF16, ir::rounded(dtype, value)), to);
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
  const auto half = [&] {
    uint16_t bits;
    std::memcpy(&bits, from, 2);
    return bits;
  };
  switch (dtype) {
    case DType::kF64:
      return get<double>(from);
    case DType::kF32:
      return get<float>(from);
    case DType::kF16:
      return value_of_half(kF16, half());
    case DType::kBF16:
      return value_of_half(kBF16, half());
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
  for (size_t d = buffer.shape.size(); d-- > 0; position /= buffer.shape[d]) out += position % buffer.shape[d] * buffer.strides[d];
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
