#include "pytorch/value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace solstice::pytorch {

bool contains(const std::vector<int>& list, int id) { return std::find(list.begin(), list.end(), id) != list.end(); }

std::string torch_name(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return "torch.float64";
    case DType::kF32:
      return "torch.float32";
    case DType::kF16:
      return "torch.float16";
    case DType::kBF16:
      return "torch.bfloat16";
    case DType::kE4M3:
      return "torch.float8_e4m3fn";
    case DType::kE5M2:
      return "torch.float8_e5m2";
    case DType::kI64:
      return "torch.int64";
    case DType::kI32:
      return "torch.int32";
    case DType::kI16:
      return "torch.int16";
    case DType::kI8:
      return "torch.int8";
    case DType::kU8:
      return "torch.uint8";
    case DType::kBool:
      break;
  }
  return "torch.bool";
}

std::string real_text(double value) {
  if (std::isnan(value)) return "float(\"nan\")";
  if (std::isinf(value)) return value > 0 ? "float(\"inf\")" : "-float(\"inf\")";
  std::string out = fmt::format("{}", value);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

std::string aligned(const Value& value, const std::vector<int>& all) {
  std::vector<std::string> places;
  bool gap = false;
  for (const int id : all) {
    const bool has = contains(value.axes, id);
    if (!has && places.empty()) continue;
    places.emplace_back(has ? ":" : "None");
    gap = gap || !has;
  }
  return gap ? value.at(kAtom) + subscript(std::move(places)) : value.text;
}

std::string tuple_text(const std::vector<int64_t>& values) {
  return fmt::format("({}{})", fmt::join(values, ", "), values.size() == 1 ? "," : "");
}

std::string subscript(std::vector<std::string> parts) {
  while (!parts.empty() && parts.back() == ":") parts.pop_back();
  return parts.empty() ? "" : fmt::format("[{}]", fmt::join(parts, ", "));
}

std::string permuted(const std::vector<int>& axes, const std::vector<int>& wanted) {
  if (axes == wanted) return "";
  std::vector<std::ptrdiff_t> from;
  for (const int id : wanted) from.push_back(std::find(axes.begin(), axes.end(), id) - axes.begin());
  return from.size() == 2 ? ".T" : fmt::format(".permute({})", fmt::join(from, ", "));
}

bool is_given(const ir::Tensor& t) {
  return t.kind == ir::TensorKind::kInput || t.kind == ir::TensorKind::kParam || t.kind == ir::TensorKind::kBuffer;
}

}  // namespace solstice::pytorch
