#include "codegen/ctype.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace solstice::codegen {

std::string_view name_of(CType type) {
  switch (type) {
    case CType::kBool:
      return "bool";
    case CType::kI32:
      return "int";
    case CType::kI64:
      return "long long";
    case CType::kF32:
      return "float";
    case CType::kF64:
      return "double";
  }
  return "";
}

std::string_view storage_type(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return "double";
    case DType::kF32:
      return "float";
    case DType::kF16:
      return "solstice::Half";
    case DType::kBF16:
      return "solstice::BFloat";
    case DType::kE4M3:
      return "solstice::math::E4M3";
    case DType::kE5M2:
      return "solstice::math::E5M2";
    case DType::kI64:
      return "long long";
    case DType::kI32:
      return "int";
    case DType::kI16:
      return "short";
    case DType::kI8:
      return "signed char";
    case DType::kU8:
      return "unsigned char";
    case DType::kBool:
      return "solstice::math::Bool8";
  }
  return "";
}

CType computing_type(DType dtype) {
  if (dtype == DType::kF64) return CType::kF64;
  if (is_float(dtype)) return CType::kF32;
  if (dtype == DType::kBool) return CType::kBool;
  return dtype == DType::kI64 ? CType::kI64 : CType::kI32;
}

bool is_real(CType type) { return type == CType::kF32 || type == CType::kF64; }

std::string literal(double value, CType type) {
  const bool single = type == CType::kF32;
  const std::string_view cast = single ? "" : "(double)";
  if (single) value = static_cast<double>(static_cast<float>(value));
  if (std::isnan(value)) return fmt::format("{}not_a_number()", cast);
  if (std::isinf(value)) return fmt::format("({}{}infinity())", value < 0 ? "-" : "", cast);
  std::string text = single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (single) text += "f";
  return std::signbit(value) ? "(" + text + ")" : text;
}

std::string literal(int64_t value, CType type) {
  // The most negative number has no literal of its own.
  if (value == std::numeric_limits<int64_t>::min()) return "(-9223372036854775807LL - 1)";
  const std::string text = fmt::format("{}{}", value, type == CType::kI64 ? "LL" : "");
  return value < 0 ? "(" + text + ")" : text;
}

std::string identifier(std::string_view name) {
  std::string out;
  for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0]))) out = "t" + out;
  return out;
}

std::string entry_name(std::string_view launch) { return "solstice_" + identifier(launch); }

}  // namespace solstice::codegen
