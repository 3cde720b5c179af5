#include "import/interface/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/base64.h"
#include "import/call/call.h"

namespace solstice::importer {
namespace {

constexpr size_t kFew = 16;  // elements written as an equation each

template <typename T>
double element(const std::string& bytes, size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
  return static_cast<double>(value);
}

double half(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double magnitude = exponent == 31  ? (fraction != 0 ? std::nan("") : HUGE_VAL)
                           : exponent == 0 ? std::ldexp(fraction, -24)
                                           : std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

std::optional<double> number(DType dtype, const std::string& bytes, size_t i) {
  const auto short_bits = [&] { return static_cast<uint16_t>(element<uint16_t>(bytes, i)); };
  switch (dtype) {
    case DType::kF64:
      return element<double>(bytes, i);
    case DType::kF32:
      return element<float>(bytes, i);
    case DType::kF16:
      return half(short_bits());
    case DType::kBF16:
      return std::bit_cast<float>(static_cast<uint32_t>(short_bits()) << 16);
    case DType::kI64: {
      const double value = element<int64_t>(bytes, i);
      return std::abs(value) <= 0x1p53 ? std::optional(value) : std::nullopt;
    }
    case DType::kI32:
      return element<int32_t>(bytes, i);
    case DType::kI16:
      return element<int16_t>(bytes, i);
    case DType::kI8:
      return element<int8_t>(bytes, i);
    case DType::kU8:
    case DType::kBool:
      return element<uint8_t>(bytes, i);
    case DType::kE4M3:
    case DType::kE5M2:
      break;
  }
  return std::nullopt;
}

TermRef literal_of(double value, DType dtype) {
  if (dtype == DType::kBool) return literal(value != 0 ? "true" : "false");
  return is_float(dtype) ? real(value) : integer(static_cast<int64_t>(value));
}

bool same(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }

// c[0,0] = 0.485, c[0,1] = 0.456, ...
Value in_pieces(const std::vector<double>& elements, const GraphInput& input, std::vector<Axis> axes, DType dtype,
                Draft& draft) {
  const int tensor = draft.declare("c", axes, dtype);
  for (size_t i = 0; i < elements.size(); ++i) {
    std::vector<Index> at(input.shape.size());
    int64_t rest = static_cast<int64_t>(i);
    for (size_t d = input.shape.size(); d-- > 0; rest /= input.shape[d]) at[d] = Index(rest % input.shape[d]);
    draft.write(tensor, std::move(at), literal_of(elements[i], dtype));
  }
  return draft.whole(tensor, axes);
}

}  // namespace

Result<std::optional<std::vector<double>>> constant_elements(const GraphInput& input) {
  const Json* text = input.data.find("base64");
  if (!text || !text->is_string()) return std::optional<std::vector<double>>();
  const DType dtype = storage_dtype(*input.dtype).value();
  SOLSTICE_TRY(const std::string bytes, base64_decode(text->as_string()));
  size_t count = 1;
  for (const int64_t extent : input.shape) count *= static_cast<size_t>(extent);
  if (bytes.size() != count * static_cast<size_t>(size_of(dtype))) {
    return fail(Code::bad_record, fmt::format("constant `{}` has {} bytes of contents for {} elements of {}", input.id,
                                              bytes.size(), count, name_of(dtype)));
  }
  std::vector<double> out;
  for (size_t i = 0; i < count; ++i) {
    const std::optional<double> value = number(dtype, bytes, i);
    if (!value) return std::optional<std::vector<double>>();
    out.push_back(*value);
  }
  return std::optional(std::move(out));
}

Result<std::optional<Value>> folded_constant(const GraphInput& input, Draft& draft) {
  SOLSTICE_TRY(const std::optional<std::vector<double>> elements, constant_elements(input));
  if (!elements || elements->empty()) return std::optional<Value>();
  const DType dtype = *storage_dtype(*input.dtype);
  std::vector<Axis> axes;
  for (const int64_t extent : input.shape) axes.push_back(draft.loops().fresh_axis(extent));
  const bool uniform =
      std::all_of(elements->begin(), elements->end(), [&](double v) { return same(v, elements->front()); });
  if (uniform) return std::optional(Value{std::move(axes), literal_of(elements->front(), dtype), dtype});
  // Indices are checked by their range; a mark such as -100 is excluded by a condition that this check cannot see.
  const bool marks =
      is_integer(dtype) && std::any_of(elements->begin(), elements->end(), [](double v) { return v < 0; });
  if (elements->size() > kFew || marks) return std::optional<Value>();
  return std::optional(in_pieces(*elements, input, std::move(axes), dtype, draft));
}

}  // namespace solstice::importer
